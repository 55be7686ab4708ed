/// Runs of `berth profile` as rows of `models`, `machines`, `runs` and `points`.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/values/profile_run.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Returns the id. Requires: in a write transaction.
[[nodiscard]] StoreResult<std::int64_t> insert_run(const Connection& connection, const ProfileRun& run);

/// All, by id, each checked against its hash. Requires: in a transaction.
[[nodiscard]] StoreResult<std::vector<ProfileRun>> read_runs(const Connection& connection);

}  // namespace berth::edges::detail
