/// The expected cost of the rest of a job on a market whose spells end with known probabilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "purchase/spot/market.h"
#include "purchase/spot/run.h"
#include "purchase/spot/spells.h"

namespace berth::purchase {

/// The table's model of a market.
struct MarketModel {
  Hazards hazards;
  /// The probability per tick that a running spot instance is lost while another zone still has spot.
  double eviction = 0;
};

/// The observed market in a tick.
struct MarketNow {
  bool has_spot = false;
  std::size_t age_class = 0;  ///< of the current spell
};

/// The least expected cost of the rest of a job, by dynamic programming backwards from the deadline.
///
/// Model: time advances in steps of whole ticks. The state is (steps left, slack, whether spot is available, class of
/// the spell's age, what is held), with slack = time left - work left, in seconds. Holding nothing for a step uses up
/// one step of slack, a restart its own length; a step of work uses up none. With less slack than one restart and one
/// tick the rules of a run allow only on demand, until the end. The table is exact in time and market, and interpolates
/// linearly between the points of a grid of slack. It does not guarantee the deadline: the caller checks it in whole
/// ticks.
///
/// O(steps x classes of age x points) time and memory, a few MiB.
class CostToGo {
 public:
  struct Problem {
    TickMath math;
    SpotPrices prices;
    std::int64_t ticks_left = 0;         ///< from now to the deadline
    std::int64_t slack_seconds_max = 0;  ///< the largest slack that is queried
  };

  CostToGo(const Problem& problem, const AgeScale& scale, const MarketModel& model);

  /// The choice with the least expected cost; spot is considered if the market has it, and as already running if `held`
  /// is. Ties: spot before nothing before on demand. Requires: the state is not later than the problem's deadline, nor
  /// earlier than its ticks_left.
  [[nodiscard]] Hold cheapest(const RunState& state, const MarketNow& now) const;

 private:
  /// A slack as a place in the grid: between point `first` and the next one. Below the grid `first` is negative.
  struct Place {
    int first = 0;
    double share = 0;  ///< of the next point
  };
  /// Where the points of the grid move in a step, by the choice made in it.
  struct Moves {
    std::vector<Place> stays, waits, restarts, starts_spot;
    std::vector<std::vector<Place>> warms;  ///< by remaining steps of the restart, from 1
  };

  void make_grid();
  [[nodiscard]] std::vector<Place> moved(double seconds) const;
  [[nodiscard]] Place place_of(double slack) const;
  /// The slack used up by the next step of a restart of which `left` steps remain.
  [[nodiscard]] double restart_step(std::size_t left) const;
  [[nodiscard]] std::size_t state_of(bool has_spot, std::size_t age_class, std::size_t held) const;
  /// Nothing, on demand, and spot by the remaining steps of its restart.
  [[nodiscard]] std::size_t held_count(bool has_spot) const { return has_spot ? 2 + warm_steps_ : 2; }
  void add_costs(std::int64_t steps, const Moves& moves);
  void add_costs_of(std::int64_t steps, const Moves& moves, bool has_spot, std::size_t age_class);
  void add_expectations(std::int64_t steps, bool has_spot, std::size_t age_class);
  /// The expected cost of `steps` further steps after one in which `held` was held.
  [[nodiscard]] double expected(std::int64_t steps, std::size_t state, bool is_on_demand, double slack,
                                Place place) const;
  [[nodiscard]] double cost_on_demand(std::int64_t steps, double slack, bool is_running) const;

  Problem problem_;
  AgeScale scale_;
  MarketModel model_;  ///< per step
  std::int64_t step_ticks_ = 1;
  double step_seconds_ = 0;
  double restart_seconds_ = 0;
  double slack_min_ = 0;        ///< below it the rules of a run allow on demand only
  std::size_t warm_steps_ = 1;  ///< kinds of held spot: remaining steps of the restart, from 0
  std::vector<double> grid_;    ///< slack in seconds, ascending from slack_min_
  std::size_t state_count_ = 0;
  std::vector<double> costs_;         ///< of one number of steps: by state and point
  std::vector<double> expectations_;  ///< by steps, state and point
};

}  // namespace berth::purchase
