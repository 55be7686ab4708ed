/// The policy `berth`: learns how long spot stays and stays away, and weighs waiting against on demand.
#pragma once

#include <optional>
#include <vector>

#include "purchase/spot/cost_to_go.h"
#include "purchase/spot/market.h"
#include "purchase/spot/run.h"
#include "purchase/spot/spells.h"

namespace berth::purchase {

/// Decides in the ticks of one run, in order. What it wants in a tick depends on what it was shown until then, on
/// nothing else. It wants nothing after which the deadline could be missed: on a market of any kind it meets each
/// deadline that can be met on demand alone, ceil((task + restart) / tick) <= floor(deadline / tick).
///
/// The expected costs are computed anew when a fifth more has been seen. Several zones are learned as one market, that
/// has spot while one of them has, and as single ones: to choose the one whose spot is least likely to go.
class LearningPolicy {
 public:
  /// Requires: `market` outlives the policy; only its ticks up to the one that is decided are read.
  LearningPolicy(const Market& market, const SpotJob& job, const SpotPrices& prices);

  [[nodiscard]] Holding want(const RunState& state);

 private:
  /// Whether the deadline can still be met, whatever the market does, after holding this for a tick.
  [[nodiscard]] bool is_safe(const RunState& state, Holding choice) const;
  [[nodiscard]] Holding best_spot(const RunState& state) const;
  void observe(std::int64_t tick);
  void observe_eviction(const RunState& state);
  [[nodiscard]] CostToGo make_table(std::int64_t tick) const;

  const Market& market_;
  TickMath math_;
  SpotPrices prices_;
  SpellLearner any_;  ///< whether one zone has spot
  std::vector<SpellLearner> zones_;
  std::optional<CostToGo> table_;
  std::int64_t next_table_tick_ = 0;
  std::int64_t spot_ticks_ = 0;  ///< in which spot ran on
  std::int64_t evictions_ = 0;   ///< spot went while another zone had it
};

}  // namespace berth::purchase
