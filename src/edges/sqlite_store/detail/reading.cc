#include "edges/sqlite_store/detail/reading.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "edges/sqlite_store/detail/inspect.h"

namespace berth::edges::detail {
namespace {

/// Whether SQLite can create the companion files it needs for reading.
StoreResult<bool> can_read_with_wal(const Connection& connection) {
  const auto probed = connection.execute("SELECT 1 FROM sqlite_schema", "read it");
  if (probed) return true;
  const int code = sqlite3_errcode(connection.raw()) & 0xff;
  if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) return false;
  return tl::unexpected(probed.error());
}

}  // namespace

StoreResult<Connection> open_for_reading(const std::string& path, const std::string& vfs) {
  auto connection = Connection::open(path, OpenMode::kRead, vfs);
  if (!connection) return connection;
  const auto can_read = can_read_with_wal(*connection);
  if (!can_read) return tl::unexpected(can_read.error());
  if (*can_read) return connection;
  const auto has_changes = has_wal(path, vfs);
  if (!has_changes) return tl::unexpected(has_changes.error());
  if (!*has_changes) return Connection::open(path, OpenMode::kImmutable, vfs);
  return tl::unexpected(StoreError{
      StoreFault::kFailed,
      fmt::format(
          "{0}: cannot read its WAL, as {0}-shm cannot be made: copy {0} and {0}-wal to a folder that can be written",
          path)});
}

}  // namespace berth::edges::detail
