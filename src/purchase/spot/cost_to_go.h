/// What the rest of a job is expected to cost on a market whose spells end with known probabilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "purchase/spot/market.h"
#include "purchase/spot/run.h"
#include "purchase/spot/spells.h"

namespace berth::purchase {

/// A market as the table knows it.
struct MarketModel {
  Hazards hazards;
  /// The probability per tick that a running spot instance goes while another zone still has spot.
  double eviction = 0;
};

/// What is known of the market in a tick.
struct MarketNow {
  bool has_spot = false;
  std::size_t age_class = 0;  ///< of the current spell
};

/// The least expected cost of the rest of a job, by dynamic programming backwards from the deadline.
///
/// Model: time goes on in steps of whole ticks. The state is (steps left, slack, whether spot is there, class of the
/// spell's age, what is held), with slack = time left - work left, in seconds. To hold nothing for a step uses up a
/// step of slack, a restart its own length; a step of work uses up none. With less slack than one restart and one tick
/// the rules of a run allow on demand only, until the end. The table is exact in time and market, and interpolates
/// linearly between the points of a grid of slack. It says nothing about safety: who uses it checks the deadline in
/// whole ticks.
///
/// O(steps x classes of age x points) time and memory, some MiB.
class CostToGo {
 public:
  struct Problem {
    TickMath math;
    SpotPrices prices;
    std::int64_t ticks_left = 0;         ///< from now to the deadline
    std::int64_t slack_seconds_max = 0;  ///< the largest slack that is asked for
  };

  CostToGo(const Problem& problem, const AgeScale& scale, const MarketModel& model);

  /// The choice with the least expected cost; spot is tried where the market has it, as one that runs already if `held`
  /// says so. Equal costs: spot before nothing before on demand. Requires: the state is not later than the problem's
  /// deadline, nor earlier than its ticks_left.
  [[nodiscard]] Hold cheapest(const RunState& state, const MarketNow& now) const;

 private:
  /// A slack as a place in the grid: between point `first` and the next one. Below the grid `first` is negative.
  struct Place {
    int first = 0;
    double share = 0;  ///< of the next point
  };
  /// Where the points of the grid get to in a step, by what is done in it.
  struct Moves {
    std::vector<Place> stays, waits, restarts, starts_spot;
    std::vector<std::vector<Place>> warms;  ///< by steps of the restart that are left, from 1
  };

  void make_grid();
  [[nodiscard]] std::vector<Place> moved(double seconds) const;
  [[nodiscard]] Place place_of(double slack) const;
  /// The slack that the next step of a restart uses up, if `left` steps of it are left.
  [[nodiscard]] double restart_step(std::size_t left) const;
  [[nodiscard]] std::size_t state_of(bool has_spot, std::size_t age_class, std::size_t held) const;
  /// Nothing, on demand, and spot by the steps of its restart that are left.
  [[nodiscard]] std::size_t held_count(bool has_spot) const { return has_spot ? 2 + warm_steps_ : 2; }
  void add_costs(std::int64_t steps, const Moves& moves);
  void add_costs_of(std::int64_t steps, const Moves& moves, bool has_spot, std::size_t age_class);
  void add_expectations(std::int64_t steps, bool has_spot, std::size_t age_class);
  /// The expected cost of `steps` further steps behind one in which `held` was held.
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
  std::size_t warm_steps_ = 1;  ///< kinds of held spot: steps of the restart left, from 0
  std::vector<double> grid_;    ///< slack in seconds, ascending from slack_min_
  std::size_t state_count_ = 0;
  std::vector<double> costs_;         ///< of one number of steps: by state and point
  std::vector<double> expectations_;  ///< by steps, state and point
};

}  // namespace berth::purchase
