/// Ways in which a disk fails, in words: for those who do not speak SQLite.
#pragma once

#include <cstddef>
#include <cstdint>

#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges::testing {

enum class DiskTrouble : std::uint8_t { kFull, kWritesFail, kSyncsFail, kReadsFail, kLocked };
inline constexpr std::size_t kDiskTroubleCount = 5;

/// The next call of that kind fails so.
[[nodiscard]] SimulatedDisk::Fault fault_of(DiskTrouble trouble);

}  // namespace berth::edges::testing
