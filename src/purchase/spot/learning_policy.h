/// The policy `berth`: learns how long spot stays available and unavailable, and weighs waiting against on demand.
#pragma once

#include <optional>
#include <vector>

#include "purchase/spot/cost_to_go.h"
#include "purchase/spot/market.h"
#include "purchase/spot/run.h"
#include "purchase/spot/spells.h"

namespace berth::purchase {

/// Decides the ticks of one run, in order. Its choice depends only on what it has seen up to that tick. It never makes
/// a choice after which the deadline could be missed: on any market it meets every deadline that can be met on demand
/// alone, ceil((task + restart) / tick) <= floor(deadline / tick).
///
/// The expected costs are recomputed whenever a fifth more ticks have been seen. Several zones are learned both as one
/// market, which has spot while any of them has, and singly, to choose the zone whose spot is least likely to end.
class LearningPolicy {
 public:
  /// Requires: `market` outlives the policy, which reads only ticks up to the one being decided.
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
  SpellLearner any_;  ///< whether any zone has spot
  std::vector<SpellLearner> zones_;
  std::optional<CostToGo> table_;
  std::int64_t next_table_tick_ = 0;
  std::int64_t spot_ticks_ = 0;  ///< in which spot kept running
  std::int64_t evictions_ = 0;   ///< spot was lost while another zone had it
};

}  // namespace berth::purchase
