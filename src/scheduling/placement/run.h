/// One run: pods arrive and leave, a policy places them, and the outcome is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/placement/arrivals.h"
#include "scheduling/placement/cluster.h"
#include "scheduling/placement/moves.h"
#include "scheduling/placement/policy_name.h"

namespace berth::placement {

/// The decision about a pod.
struct Decision {
  std::int32_t row = 0;                     ///< of the list of pods
  std::optional<Spot> spot = std::nullopt;  ///< absent: it failed
  bool is_undone = false;                   ///< placed, but its gang failed
};

/// The state of a run after a batch of arrivals.
struct RunMeasure {
  std::int64_t arrivals = 0;      ///< so far
  int batch = 1;                  ///< how many of them came in this batch
  std::int64_t demand_milli = 0;  ///< GPU milli requested by all arrivals so far
  std::int64_t used_milli = 0;    ///< GPU milli requested by placed pods
};

/// The listener of a run; each function may be empty. Decisions and departures come in order of time.
struct RunListener {
  std::function<void(const Cluster&, const Decision&)> decided = nullptr;
  std::function<void(std::int64_t decision)> left = nullptr;
  std::function<void(const Cluster&, const Move&)> moved = nullptr;
  std::function<void(const RunMeasure&)> measured = nullptr;
  /// Called after the last decision; it may change the cluster, because nothing is decided afterwards.
  std::function<void(Cluster&)> ended = nullptr;
  /// Called from time to time with the share of the arrivals that are decided; false ends the run.
  std::function<bool(double share)> progressed = nullptr;
  /// Nanoseconds of a monotonic clock; empty: decisions are not timed.
  std::function<std::int64_t()> clock = nullptr;
};

struct RunOptions {
  Policy policy = Policy::kBerth;
  std::uint64_t seed = 0;  ///< of `random`
  int moves_max = 0;       ///< slices that `berth` may move for one arrival
};

/// The figures of a run; shares in percent. Absent: no arrivals were measured for it.
struct RunFigures {
  std::optional<double> allocated_at_100 = std::nullopt;
  std::optional<double> allocated_at_130 = std::nullopt;
  std::optional<double> allocated_churn = std::nullopt;
  std::optional<double> units_at_130 = std::nullopt;  ///< with slices
  std::optional<double> units_churn = std::nullopt;   ///< with slices and churn
  std::optional<double> fragmented = std::nullopt;    ///< without slices
  std::int64_t failed = 0;
  std::int64_t moves = 0;
  std::vector<std::uint32_t> decision_ns = {};  ///< by decision, with a clock
};

/// Nothing if the listener ended it. O(decisions x cost of the policy).
[[nodiscard]] std::optional<RunFigures> run_placement(const Problem& problem, const Arrivals& arrivals,
                                                      const RunOptions& options, const RunListener& listener);

}  // namespace berth::placement
