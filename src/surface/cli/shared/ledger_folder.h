/// The folder of a ledger on disk.
#pragma once

#include <string>

#include "base/result.h"
#include "ports/journal_store.h"

namespace berth::cli {

/// The file of the lines in it.
[[nodiscard]] std::string ledger_path(const std::string& folder);

/// What a store says, as the error of a verb (status 1: the environment failed).
[[nodiscard]] tl::unexpected<Error> ledger_failure(const StoreError& error);

/// All lines of the ledger, each ended by LF. Errors: the folder has none; it is damaged.
[[nodiscard]] Result<std::string> read_ledger_lines(const std::string& folder);

}  // namespace berth::cli
