/// Excludes other writers from a database in WAL mode, also between transactions.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// A lock of the file that ends with its process, however that ends. It is the one that SQLite calls RESERVED: writers
/// with a rollback journal take it, and in WAL mode only this class. So readers never wait for it, and other programs
/// that write are not excluded. The connection must outlive it.
class WriterLock {
 public:
  WriterLock() = default;
  /// kLocked if another connection has it. Requires: the connection has read something in WAL mode.
  [[nodiscard]] static StoreResult<WriterLock> take(const Connection& connection);

 private:
  struct Release {
    void operator()(sqlite3_file* file) const { file->pMethods->xUnlock(file, SQLITE_LOCK_SHARED); }
  };
  std::unique_ptr<sqlite3_file, Release> file_;  // the connection's
};

}  // namespace berth::edges::detail
