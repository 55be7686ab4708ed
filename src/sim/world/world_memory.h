/// What a simulated world remembers when its process ends, in addition to its devices (world/slices/device_memory.h):
/// faults and retrainings under way, and counts of batches. Requests that wait or are being answered are lost with the
/// process that serves them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "sim/world/fault_book.h"

namespace berth::sim {

/// A service's retraining (RetrainingClock).
struct RetrainingMemory {
  Instant next_due;
  bool is_stale = false;
  bool is_wanted = false;
  Decimal done_share;  ///< of the work, without what has run since `running_since`
  std::optional<Instant> running_since = std::nullopt;
  Micros running_time_on = {};  ///< time for the whole work on its present slice
  Instant swap_at = Instant::never();
  friend bool operator==(const RetrainingMemory&, const RetrainingMemory&) = default;
};

/// The source of a service's arrivals.
struct ArrivalsMemory {
  std::uint64_t number = 0;      ///< RunArrivals::begin; 0: those of the scenario from its beginning on
  std::int64_t from_second = 0;  ///< its first second
  bool is_to_begin = false;      ///< begins with the next second
  friend bool operator==(const ArrivalsMemory&, const ArrivalsMemory&) = default;
};

struct ServiceMemory {
  std::optional<RetrainingMemory> retraining = std::nullopt;
  ArrivalsMemory arrivals;
  bool is_by_rates = false;                    ///< how it is served (Serving)
  std::uint64_t revision = 0;                  ///< ServiceSet::revision of its spec
  std::map<std::string, double> batches = {};  ///< by GPU model, where they are counted (BatchTally::counted)
  friend bool operator==(const ServiceMemory&, const ServiceMemory&) = default;
};

/// All except the devices.
struct WorldMemory {
  Instant now;
  std::vector<WaitingFault> faults;
  std::uint64_t last_fault = 0;                   ///< the highest number of a fault
  std::vector<ServiceMemory> services;            ///< by ServiceId
  std::optional<bool> common_way = std::nullopt;  ///< `is_by_rates` of all services, where they must not differ
  std::uint64_t orders = 0;                       ///< how many orders it has carried out, or begun to carry out (Loop)
  friend bool operator==(const WorldMemory&, const WorldMemory&) = default;
};

}  // namespace berth::sim
