/// Named ways in which a disk fails, for tests without SQLite's codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges::testing {

enum class DiskTrouble : std::uint8_t { kFull, kWritesFail, kSyncsFail, kReadsFail, kLocked };
inline constexpr std::size_t kDiskTroubleCount = 5;

/// The fault that makes the next call of that kind fail this way.
[[nodiscard]] SimulatedDisk::Fault fault_of(DiskTrouble trouble);

}  // namespace berth::edges::testing
