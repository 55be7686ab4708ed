/// What devices and their driver remember of slices when a process ends: those that exist, and changes under way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "world/slices/slice_phase.h"

namespace berth::world {

/// A slice that is not gone.
struct SliceMemory {
  Slice slice;
  SlicePhase phase = SlicePhase::kWaitingForRoom;
  std::uint64_t created_as = 0;
  std::uint64_t assigned_as = 0;
  Role role = Role::kInference;
  std::vector<ServiceId> services = {};  ///< its current holders
  std::optional<PointChoice> point = std::nullopt;
  std::optional<AssignSlice> next = std::nullopt;
  bool is_unwanted = false;
  bool is_foreign = false;
  bool will_time_out = false;
  std::uint64_t order = 0;                  ///< among all slices: that of their creation
  Instant continues_at = Instant::never();  ///< when its change continues by itself; never: it does not
  bool was_ordered = false;                 ///< its present creation or destruction was sent to an outside device
  /// A process of its holder may run on it: it is destroyed, or gets other holders, once that is gone. Absent: none.
  std::optional<bool> has_program = std::nullopt;
  friend bool operator==(const SliceMemory&, const SliceMemory&) = default;
};

/// Why a GPU is lost, if a fault was injected.
inline constexpr const char* kSimulatedLoss = "a fault of the simulated world";

/// One GPU.
struct DeviceMemory {
  bool is_lost = false;
  std::uint64_t known_number = 0;   ///< the latest Action::number that it received
  std::vector<SliceMemory> slices;  ///< by `order`, including those that wait for room
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

}  // namespace berth::world
