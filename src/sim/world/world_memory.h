/// What a simulated world remembers when its process ends, like devices and their driver do: slices on their way,
/// faults, retrainings under way. Requests that wait or are being answered are lost with the process that serves them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/slice.h"
#include "sim/world/fault_book.h"

namespace berth::sim {

/// Where a slice is in its life; SimSlice says what leads from one to the next.
enum class SlicePhase : std::uint8_t { kWaitingForRoom, kCreating, kStarting, kUp, kDraining, kDestroying, kGone };

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
  Instant continues_at = Instant::never();  ///< when its change goes on by itself; never: it does not
  bool was_ordered = false;                 ///< a device outside was told of its present creation or destruction
  friend bool operator==(const SliceMemory&, const SliceMemory&) = default;
};

/// Why a GPU is lost, if a fault was injected.
inline constexpr const char* kSimulatedLoss = "a fault of the simulated world";

/// One GPU.
struct DeviceMemory {
  bool is_lost = false;
  std::uint64_t known_number = 0;   ///< the latest Action::number that it got
  std::vector<SliceMemory> slices;  ///< by `order`, those that wait for room, too
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

/// A service's retraining (RetrainingClock).
struct RetrainingMemory {
  Instant next_due;
  bool is_stale = false;
  bool is_wanted = false;
  Decimal done_share;  ///< of the work, without what has run since `running_since`
  std::optional<Instant> running_since = std::nullopt;
  Micros running_time_on = {};  ///< what the whole work takes where it runs
  Instant swap_at = Instant::never();
  friend bool operator==(const RetrainingMemory&, const RetrainingMemory&) = default;
};

/// Where a service's arrivals come from.
struct ArrivalsMemory {
  std::uint64_t number = 0;      ///< RunArrivals::begin; 0: those of the scenario from its beginning on
  std::int64_t from_second = 0;  ///< the second that is the first of them
  bool is_to_begin = false;      ///< with the next second
  friend bool operator==(const ArrivalsMemory&, const ArrivalsMemory&) = default;
};

struct ServiceMemory {
  std::optional<RetrainingMemory> retraining = std::nullopt;
  ArrivalsMemory arrivals;
  bool is_by_rates = false;    ///< how it is served (Serving)
  std::uint64_t revision = 0;  ///< ServiceSet::revision of its spec
  friend bool operator==(const ServiceMemory&, const ServiceMemory&) = default;
};

/// All but the devices.
struct WorldMemory {
  Instant now;
  std::vector<WaitingFault> faults;
  std::uint64_t last_fault = 0;                   ///< the highest number of a fault
  std::vector<ServiceMemory> services;            ///< by ServiceId
  std::optional<bool> common_way = std::nullopt;  ///< `is_by_rates` of all services, where they must not differ
  std::uint64_t orders = 0;                       ///< how many orders it has carried out, or begun to (Loop)
  friend bool operator==(const WorldMemory&, const WorldMemory&) = default;
};

}  // namespace berth::sim
