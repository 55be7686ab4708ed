/// A ledger on disk: its lines in `ledger.db`, and next to it `books.bin` with what was derived from them so far, which
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

/// The path of the lines in a folder.
[[nodiscard]] std::string ledger_path(const std::string& folder);

/// An error of the store as the error of a verb (status 1: the environment failed).
[[nodiscard]] tl::unexpected<Error> ledger_failure(const StoreError& error);

/// Opens the ledger for reading. Errors: the folder has no ledger; it is damaged.
[[nodiscard]] Result<std::unique_ptr<edges::LedgerFile>> open_ledger_file(const std::string& folder);

/// All lines of the ledger, each ended by LF; if they are many, they are spilled to disk. Errors as above.
[[nodiscard]] Result<std::unique_ptr<FileBytes>> read_ledger_lines(const std::string& folder);

/// The books of a ledger on disk, with all of its lines: the saved books, and the lines after them. Owns what the books
/// borrow.
class FolderBooks {
 public:
  /// `show` gets the share of the lines that was read, from 0 to 1. Errors as above.
  [[nodiscard]] static Result<FolderBooks> open(const std::string& folder, const Files& files,
                                                const std::function<void(double)>& show);

  [[nodiscard]] ledger::Books& books() { return *books_; }
  /// Saves the books. Error: kUnavailable.
  [[nodiscard]] Result<void> save();
  /// Removes the files left by a process that was killed while saving. Requires: no other process is saving.
  static void remove_unfinished(const std::string& folder);
  /// Whether there are enough lines after the saved books to make saving worthwhile.
  [[nodiscard]] static Result<bool> is_save_due(const std::string& folder, const Files& files);

 private:
  struct Lines;

  /// Adds the lines after the saved books.
  [[nodiscard]] Result<void> take_lines(const edges::LedgerHead& head, const std::function<void(double)>& show);

  std::string folder_;
  edges::LedgerHead head_;        ///< of the books
  edges::LedgerHead saved_head_;  ///< of the saved books
  std::unique_ptr<FileBytes> saved_;
  std::shared_ptr<Lines> lines_;
  std::unique_ptr<ledger::Books> books_;
};

}  // namespace berth::cli
