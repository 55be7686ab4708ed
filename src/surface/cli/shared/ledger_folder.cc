#include "surface/cli/shared/ledger_folder.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "edges/sqlite_store/ledger_file.h"

namespace berth::cli {

std::string ledger_path(const std::string& folder) { return (std::filesystem::path(folder) / "ledger.db").string(); }

tl::unexpected<Error> ledger_failure(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

Result<std::string> read_ledger_lines(const std::string& folder) {
  const std::string path = ledger_path(folder);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::kNotFound,
                "--ledger " + folder + ": wanted a folder with a ledger, found no ledger.db in it");
  }
  const auto file = edges::LedgerFile::open_reader(path);
  if (!file) return ledger_failure(file.error());
  const auto head = (*file)->head();
  if (!head) return ledger_failure(head.error());
  std::string lines;
  lines.reserve(head->bytes);
  const auto read = (*file)->for_each_text([&](std::string_view text) {
    lines += text;
    return true;
  });
  if (!read) return ledger_failure(read.error());
  return lines;
}

}  // namespace berth::cli
