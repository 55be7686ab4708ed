/// What arrives in a run and when it leaves: the same for every policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "base/core/rng.h"
#include "scheduling/placement/problem.h"

namespace berth::placement {

/// Pods that are decided together: one, or a gang in the order of the list.
struct Batch {
  int count = 1;
  bool is_gang = false;
};

/// Decision `decision` ends before arrival `before` is decided.
struct Departure {
  std::int64_t before = 0;
  std::int64_t decision = 0;
  friend auto operator<=>(const Departure&, const Departure&) = default;
};

struct Arrivals {
  std::vector<NodeIndex> node_order = {};
  std::vector<std::int32_t> rows = {};     ///< of the list of pods, in order of the decisions
  std::vector<Batch> batches = {};         ///< divide `rows`
  std::vector<Departure> departures = {};  ///< ascending; with churn only, and only those within the run
  bool is_churning = false;
  std::int64_t measured_from = 0;  ///< with churn: the first arrival of the mean
  double mean_stay = 0;            ///< with churn: M, in arrivals
};

/// Everything in the order of the lists.
[[nodiscard]] Arrivals given_arrivals(const Problem& problem);

/// Nodes and pods shuffled; pods removed, or drawn and appended, until they ask for `demand` x capacity. Nothing can be
/// drawn without a pod that asks for a GPU: an error. The draws do not depend on a policy; each purpose has a stream of
/// its own.
[[nodiscard]] Result<Arrivals> seeded_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed);

/// M = the pods of a list that asks for `demand` x capacity on average; 5 M arrivals, each drawn from the list, each
/// staying for a number of arrivals that is exponential with mean M. Errors as above; too many arrivals.
[[nodiscard]] Result<Arrivals> churning_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed);

/// The most arrivals of a run.
inline constexpr std::int64_t kArrivalsMax = 50'000'000;

}  // namespace berth::placement
