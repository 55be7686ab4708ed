/// The journal of a simulated run: events in order of time. It is sufficient to recompute every count, the goodput and
/// the changes. What happens to slices is described by the records of world/slices/slice_records.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "base/core/instant.h"
#include "domain/values/request_counts.h"
#include "domain/values/slice.h"
#include "domain/values/tier_rule.h"
#include "domain/values/warm_state.h"
#include "world/slices/slice_records.h"

namespace berth::sim {

/// All requests that arrived for a service in one second are settled (or the run has ended).
struct SecondRecord : RequestCounts {
  Instant at;
  ServiceId service;
  std::int64_t second = 0;
  std::int64_t accuracy_sum_micro = 0;  ///< of the answers in time, in millionths
  friend bool operator==(const SecondRecord&, const SecondRecord&) = default;
};

/// A GPU is ordered, or returned: it is paid for in between.
struct GpuRecord {
  Instant at;
  GpuId gpu;
  bool is_on = true;
  friend bool operator==(const GpuRecord&, const GpuRecord&) = default;
};

/// The GPU model of a service was chosen, or its rows on one became known.
struct TierRecord {
  Instant at;
  ServiceId service;
  std::string measured_gpu = {};  ///< the model whose rows became known; empty: `choice` was made
  TierChoice choice = {};
  friend bool operator==(const TierRecord&, const TierRecord&) = default;
};

/// What is kept ready for a service with a warm pool changed.
struct WarmRecord {
  Instant at;
  WarmDecision decision;
  friend bool operator==(const WarmRecord&, const WarmRecord&) = default;
};

using JournalRecord =
    std::variant<world::SliceRecord, SecondRecord, GpuRecord, world::PointRecord, TierRecord, WarmRecord>;
/// Receives each record in order of time; must not keep references.
using JournalSink = std::function<void(const JournalRecord&)>;

}  // namespace berth::sim
