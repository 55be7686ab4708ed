/// The arrivals and departures of a run: the same for every policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "base/core/rng.h"
#include "scheduling/placement/problem.h"

namespace berth::placement {

/// Pods that are decided together: a single pod, or a gang in the order of the list.
struct Batch {
  int count = 1;
  bool is_gang = false;
};

/// The pod of decision `decision` leaves before arrival `before` is decided.
struct Departure {
  std::int64_t before = 0;
  std::int64_t decision = 0;
  friend auto operator<=>(const Departure&, const Departure&) = default;
};

struct Arrivals {
  std::vector<NodeIndex> node_order = {};
  std::vector<std::int32_t> rows = {};     ///< of the list of pods, in order of the decisions
  std::vector<Batch> batches = {};         ///< divide `rows`
  std::vector<Departure> departures = {};  ///< ascending; only with churn, and only those within the run
  bool is_churning = false;
  std::int64_t measured_from = 0;  ///< with churn: the first arrival of the mean
  double mean_stay = 0;            ///< with churn: M, in arrivals
};

/// Everything in the order of the lists.
[[nodiscard]] Arrivals given_arrivals(const Problem& problem);

/// Nodes and pods shuffled; pods removed, or drawn and appended, until they request `demand` x capacity. Error: no pod
/// that requests a GPU to draw from. The draws do not depend on a policy; each purpose has its own random stream.
[[nodiscard]] Result<Arrivals> seeded_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed);

/// M = the number of pods that request `demand` x capacity on average; 5 M arrivals, each drawn from the list and
/// staying for an exponentially distributed number of arrivals with mean M. Errors as above; too many arrivals.
[[nodiscard]] Result<Arrivals> churning_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed);

/// The most arrivals of a run.
inline constexpr std::int64_t kArrivalsMax = 50'000'000;

}  // namespace berth::placement
