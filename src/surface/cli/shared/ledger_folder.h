/// A ledger on disk: its lines in `ledger.db`, and beside them `books.bin`, what was derived from them so far, which
/// may be removed at any time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "edges/sqlite_store/ledger_file.h"
#include "ledger/books/books.h"

namespace berth::cli {

/// The file of the lines in a folder.
[[nodiscard]] std::string ledger_path(const std::string& folder);

/// What a store says, as the error of a verb (status 1: the environment failed).
[[nodiscard]] tl::unexpected<Error> ledger_failure(const StoreError& error);

/// For reading. Errors: the folder has no ledger; it is damaged.
[[nodiscard]] Result<std::unique_ptr<edges::LedgerFile>> open_ledger_file(const std::string& folder);

/// All lines of the ledger, each ended by LF, outside of the memory where they are many. Errors as above.
[[nodiscard]] Result<std::unique_ptr<FileBytes>> read_ledger_lines(const std::string& folder);

/// The books of a ledger on disk, with all of its lines: those that were saved, and what came after. What it borrows
/// lives as long as it does.
class FolderBooks {
 public:
  /// `show` gets the part of the lines that was read, from 0 to 1. Errors as above.
  [[nodiscard]] static Result<FolderBooks> open(const std::string& folder, const Files& files,
                                                const std::function<void(double)>& show);

  [[nodiscard]] ledger::Books& books() { return *books_; }
  /// Saves the books. Error: kUnavailable.
  [[nodiscard]] Result<void> save();
  /// Removes what a process left that was killed while it saved. Requires: no other one saves now.
  static void remove_unfinished(const std::string& folder);
  /// Whether so many lines are new since the books were saved that saving them is worthwhile.
  [[nodiscard]] static Result<bool> is_save_due(const std::string& folder, const Files& files);

 private:
  struct Lines;

  /// The lines that came after the saved books.
  [[nodiscard]] Result<void> take_lines(const edges::LedgerHead& head, const std::function<void(double)>& show);

  std::string folder_;
  edges::LedgerHead head_;        ///< what the books have
  edges::LedgerHead saved_head_;  ///< what was saved of them
  std::unique_ptr<FileBytes> saved_;
  std::shared_ptr<Lines> lines_;
  std::unique_ptr<ledger::Books> books_;
};

}  // namespace berth::cli
