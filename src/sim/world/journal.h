/// The journal of a simulated run: events in order of time. It is sufficient to recompute every count, the goodput and
/// the changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/request_counts.h"
#include "domain/values/slice.h"

namespace berth::sim {

enum class world::SliceEvent { kCreated, kDestroyed, kLost, kDraining, kServing, kRetrainingStarted, kRetrainingDone };

/// An event of a slice.
struct world::SliceRecord {
  Instant at;
  world::SliceEvent event = world::SliceEvent::kCreated;
  Slice slice;
  Role role = Role::kInference;
  std::vector<ServiceId> services;  ///< none: unowned; several: shared
  std::uint64_t generation = 0;     ///< Action::number of the slice's creation; not written to files
  friend bool operator==(const world::SliceRecord&, const world::SliceRecord&) = default;
};

/// All requests that arrived for a service in one second are settled (or the run has ended).
struct SecondRecord : RequestCounts {
  Instant at;
  ServiceId service;
  std::int64_t second = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  friend bool operator==(const SecondRecord&, const SecondRecord&) = default;
};

/// A GPU is ordered, or given back: it is paid for in between.
struct GpuRecord {
  Instant at;
  GpuId gpu;
  bool is_on = true;
  friend bool operator==(const GpuRecord&, const GpuRecord&) = default;
};

/// A slice that serves, or is about to, runs at this operating point from now on; absent: the default one. A slice that
/// was drained is at the default one again. Not written to files.
struct world::PointRecord {
  Instant at;
  Slice slice;
  std::optional<PointChoice> point;
  friend bool operator==(const world::PointRecord&, const world::PointRecord&) = default;
};

using JournalRecord = std::variant<world::SliceRecord, SecondRecord, GpuRecord, world::PointRecord>;
/// Receives each record in order of time; must not keep references.
using JournalSink = std::function<void(const JournalRecord&)>;

}  // namespace berth::sim
