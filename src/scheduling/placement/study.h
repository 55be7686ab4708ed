/// Policies compared on the same arrivals, over seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "scheduling/placement/policy_name.h"
#include "scheduling/placement/problem.h"
#include "scheduling/placement/run.h"

namespace berth::placement {

enum class ArrivalOrder { kSeeded, kGiven, kChurn };

struct StudyOptions {
  ArrivalOrder order = ArrivalOrder::kSeeded;
  std::vector<std::uint64_t> seeds = {};  ///< not used with `kGiven`, which is one run
  Decimal demand = {};                    ///< GPU milli that the pods request, divided by the capacity
  int moves_max = 0;
};

/// Mean and standard deviation (n - 1) over the runs that have the figure.
struct Summary {
  double mean = 0;
  std::optional<double> sd = std::nullopt;  ///< absent with one run
};
/// Nothing if no run has it.
[[nodiscard]] std::optional<Summary> summary_of(std::span<const double> values);

/// The times of the decisions of all runs.
struct DecisionTimes {
  double p50_us = 0;
  double p99_us = 0;
  double per_second = 0;
};

struct PolicyResult {
  Policy policy = Policy::kBerth;
  std::optional<Summary> allocated_at_100 = std::nullopt;
  std::optional<Summary> allocated_at_130 = std::nullopt;
  std::optional<Summary> allocated_churn = std::nullopt;
  std::optional<Summary> units_at_130 = std::nullopt;
  std::optional<Summary> units_churn = std::nullopt;
  std::optional<Summary> fragmented = std::nullopt;
  std::optional<Summary> failed = std::nullopt;
  std::optional<Summary> moves = std::nullopt;
  std::optional<DecisionTimes> times = std::nullopt;
  std::vector<RunFigures> runs = {};  ///< by seed
};

/// Called before each run; returns the listener of that run. `seed` is absent with the given order.
using RunHook = std::function<RunListener(Policy policy, std::optional<std::uint64_t> seed, const Arrivals& arrivals)>;

/// Each policy over each seed, in that order. Nothing if a listener ended it. Errors: those of the arrivals.
[[nodiscard]] Result<std::optional<std::vector<PolicyResult>>> run_study(const Problem& problem,
                                                                         const StudyOptions& options,
                                                                         std::span<const Policy> policies,
                                                                         const RunHook& hook);

}  // namespace berth::placement
