/// The tables of the database of `berth profile`.
#pragma once

#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Whether the file has the tables; false: it is new. kForeign, kNewer; kDamaged, if SQLite finds its pages broken.
[[nodiscard]] StoreResult<bool> has_profile_tables(const Connection& connection);

/// Creates them, with the owner's marks. Requires: in a transaction of a new file.
[[nodiscard]] StoreResult<void> make_profile_tables(const Connection& connection);

/// kDamaged: "PATH: WHAT is not what was written".
[[nodiscard]] tl::unexpected<StoreError> not_what_was_written(const Connection& connection, std::string_view what);

}  // namespace berth::edges::detail
