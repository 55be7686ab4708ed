/// Reads outcomes from their table.
#pragma once

#include <optional>
#include <string>

#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

inline constexpr const char* kSelectOutcome =
    "SELECT key, request, wall_us, status, body, hash FROM outcomes WHERE key = ?";

/// The row to which a statement with the columns of kSelectOutcome has stepped; checked against its hash.
[[nodiscard]] StoreResult<KeyedOutcome> checked_outcome(StatementRun& run, const std::string& path);

/// The outcome of a key. `select`: a statement of kSelectOutcome.
[[nodiscard]] StoreResult<std::optional<KeyedOutcome>> find_outcome(Statement& select, const Sha256& key,
                                                                    const std::string& path);

}  // namespace berth::edges::detail
