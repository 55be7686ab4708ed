#include "edges/sqlite_store/testing/disk_trouble.h"

#include <sqlite3.h>

namespace berth::edges::testing {

SimulatedDisk::Fault fault_of(DiskTrouble trouble) {
  using Call = SimulatedDisk::Call;
  SimulatedDisk::Fault fault;
  const auto set = [&](Call call, int code) {
    fault.call = call;
    fault.code = code;
  };
  switch (trouble) {
    case DiskTrouble::kFull:
      set(Call::kWrite, SQLITE_FULL);
      break;
    case DiskTrouble::kWritesFail:
      set(Call::kWrite, SQLITE_IOERR_WRITE);
      break;
    case DiskTrouble::kSyncsFail:
      set(Call::kSync, SQLITE_IOERR_FSYNC);
      break;
    case DiskTrouble::kReadsFail:
      set(Call::kRead, SQLITE_IOERR_READ);
      break;
    case DiskTrouble::kLocked:
      set(Call::kLock, SQLITE_BUSY);
      break;
  }
  return fault;
}

}  // namespace berth::edges::testing
