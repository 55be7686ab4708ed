#include "edges/sqlite_store/detail/writer_lock.h"

#include "base/core/ensure.h"

namespace berth::edges::detail {

StoreResult<WriterLock> WriterLock::take(const Connection& connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection.raw(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  ENSURE(file != nullptr && file->pMethods != nullptr);
  const int code = file->pMethods->xLock(file, SQLITE_LOCK_RESERVED);
  if (code != SQLITE_OK) {
    return tl::unexpected(store_error(code, connection.path(), "lock it for writing", sqlite3_errstr(code)));
  }
  WriterLock lock;
  lock.file_.reset(file);
  return lock;
}

}  // namespace berth::edges::detail
