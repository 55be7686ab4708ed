/// The owner of a small database: checks its ids before its tables are made or used.
#pragma once

#include <cstdint>
#include <string>

#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// The values that the program writes into the header of a database.
struct Owner {
  std::int64_t application_id = 0;
  std::int64_t format = 1;  ///< the latest known one
};

/// Succeeds for a new file, or one of that owner in the same or an earlier format; else kForeign or kNewer. `advice`:
/// text for the error about another program's file.
[[nodiscard]] StoreResult<void> check_owner(const Connection& connection, const Owner& owner, std::string_view advice);

/// The SQL that marks a file as its owner's.
[[nodiscard]] std::string sql_of(const Owner& owner);

}  // namespace berth::edges::detail
