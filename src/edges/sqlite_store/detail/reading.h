/// Opens a database for reading.
#pragma once

#include <string>

#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Opens a database next to a possible writer. If SQLite cannot create its companion files, opens only the file, which
/// is complete if there is no WAL; kFailed if there is one. Requires: `inspect` was called before.
[[nodiscard]] StoreResult<Connection> open_for_reading(const std::string& path, const std::string& vfs);

}  // namespace berth::edges::detail
