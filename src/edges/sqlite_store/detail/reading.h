/// Opens a database for reading.
#pragma once

#include <string>

#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Next to a writer. Where SQLite cannot make what it needs beside the file, the file alone, which is all there is
/// without a WAL; kFailed if there is one. Call `inspect` before.
[[nodiscard]] StoreResult<Connection> open_for_reading(const std::string& path, const std::string& vfs);

}  // namespace berth::edges::detail
