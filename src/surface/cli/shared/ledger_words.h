/// The words of verbs that read a ledger, and the ledger that they read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "ledger/books/books.h"
#include "surface/cli/shared/ledger_folder.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed: exactly one of the first two.
struct LedgerWords {
  std::optional<std::string> events = std::nullopt;
  std::optional<std::string> ledger = std::nullopt;
  std::optional<std::string> refused = std::nullopt;
};

[[nodiscard]] OptionTable ledger_option_rows(LedgerWords& words);

struct LedgerRequest {
  std::string path;
  bool is_folder = false;  ///< a ledger on disk, else a file of events
  std::optional<std::string> refused_path;
};

/// Refuses both or neither of --events and --ledger, and empty paths.
[[nodiscard]] Result<LedgerRequest> check_ledger_words(const LedgerWords& words);

/// The lines of a ledger as one text.
struct LedgerText {
  std::string name;  ///< for messages
  std::unique_ptr<FileBytes> bytes;
  [[nodiscard]] std::string_view text() const { return bytes->bytes(); }
};
/// Opens the lines without interpreting them. Errors: those of the file or the ledger on disk.
[[nodiscard]] Result<LedgerText> open_ledger_text(const LedgerRequest& request, const VerbContext& context);

/// A ledger that was read completely.
struct OpenLedger {
  [[nodiscard]] ledger::Books& books() { return folder ? folder->books() : *own_books; }

  LedgerText text = {};                                ///< for a file
  std::unique_ptr<ledger::Books> own_books = nullptr;  ///< for a file
  std::optional<FolderBooks> folder = std::nullopt;    ///< for a folder
};

/// Reads all lines, and writes those without effect to `refused_path`. Errors: those of the files; a line that is not
/// an event. Nothing is written on an error.
[[nodiscard]] Result<OpenLedger> open_ledger(const LedgerRequest& request, const VerbContext& context);

}  // namespace berth::cli
