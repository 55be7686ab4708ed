#include "edges/sqlite_store/testing/disk_trouble.h"

#include <sqlite3.h>

namespace berth::edges::testing {

SimulatedDisk::Fault fault_of(DiskTrouble trouble) {
  using DiskCall = SimulatedDisk::Call;
  SimulatedDisk::Fault fault;
  const auto set = [&](DiskCall call, int code) {
    fault.call = call;
    fault.code = code;
  };
  switch (trouble) {
    case DiskTrouble::kFull:
      set(DiskCall::kWrite, SQLITE_FULL);
      break;
    case DiskTrouble::kWritesFail:
      set(DiskCall::kWrite, SQLITE_IOERR_WRITE);
      break;
    case DiskTrouble::kSyncsFail:
      set(DiskCall::kSync, SQLITE_IOERR_FSYNC);
      break;
    case DiskTrouble::kReadsFail:
      set(DiskCall::kRead, SQLITE_IOERR_READ);
      break;
    case DiskTrouble::kLocked:
      set(DiskCall::kLock, SQLITE_BUSY);
      break;
  }
  return fault;
}

}  // namespace berth::edges::testing
