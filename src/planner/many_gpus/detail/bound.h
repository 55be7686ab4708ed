/// The bound: Lagrangian duality.
///
/// Prices, constant in ranges of slots, for the resources that services take from GPUs:
///     z[i, w]   a request per second of capacity in the variants up to rung w of the ladder of service i,
///     q[i]      progress of its retraining,      f[i]  a request per second towards its floor,
///     c[i]      a slice of its budget of changes.
/// For any prices >= 0,
///     sum over services of max over capacity, completions of (worth - price of what is taken)
///   + sum over GPUs of A(root, end) at these prices                     (space.h)
///   - sum f x floor + sum c x budget
/// is at least the objective of every schedule that keeps floors and budgets: the first sum is in demand.h, the second
/// one in supply.h; price_frame.h has the index of each price. The bound is lowered by subgradients with Polyak's step
/// (B. T. Polyak, Minimization of unsmooth functionals, 1969), smoothed over steps; large fleets balance each service's
/// demand with the GPUs' supply, softly (balance.h), with momentum.
///
/// The points of the grid are the slots where prices change, and those slots minus the slots until a piece is ready.
/// Between two points the worth of a schedule is linear (or convex) in the time of a change, so changes at points are
/// optimal and the grid loses nothing, except for take-overs (space.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/many_gpus/detail/demand.h"
#include "planner/many_gpus/detail/price_frame.h"
#include "planner/many_gpus/detail/supply.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

struct BoundOptions {
  int steps = 100;
  double novelty = 0.1;          ///< weight of the last slope in the direction (volume algorithm)
  int gpus_max = 1'000'000'000;  ///< of more GPUs a sample is used: good prices, but no proven bound
  double gap = 0;                ///< (bound - objective) / |bound| at which the search stops
};

struct BalanceOptions {
  int steps = 50;
  int gpus_max = 1'000'000'000;  ///< as in BoundOptions
  double softness_first = 0.05;
  double softness_last = 0.003;
};

class PriceSearch {
 public:
  /// `starts`: where prices may change, ascending slots from 0.
  PriceSearch(const Terms& terms, std::vector<SlotIndex> starts);
  PriceSearch(const PriceSearch&) = delete;  // its parts point to each other
  PriceSearch& operator=(const PriceSearch&) = delete;
  ~PriceSearch() = default;

  /// The first prices (rents.h).
  void start_from_rents();
  /// Multiplies all first prices by one factor, the best one for a sample of `gpus_max` GPUs. Call before run_balance.
  void scale_rents(int gpus_max);
  /// Lowers the bound. `objective`: of a known schedule.
  void run(double objective, const BoundOptions& options);
  /// Lowers the bound in large steps: balances each service in turn with the GPUs (balance.h), with decreasing
  /// softness.
  void run_balance(const BalanceOptions& options);
  /// The lowest value so far. Where changes have a price it ignores pieces that take over a site from another one that
  /// begins there just before; `proven_bound` counts them, and costs one step.
  [[nodiscard]] double bound() const { return bound_; }
  /// No schedule that keeps floors and budgets has a larger objective. Requires: the last values are those of all GPUs.
  [[nodiscard]] double proven_bound();
  /// Takes the prices of the best bound (before caps).
  void take_best_prices();
  [[nodiscard]] std::int64_t nodes() const { return supply_.nodes(); }
  /// The prices of capacity and of floors in each slot, [service][variant][slot] and [service][slot].
  [[nodiscard]] PriceCaps caps() const { return supply_.caps(); }

 private:
  double value();
  void set_reference();
  void balance_service(ServiceIndex service);
  void balance_block(ServiceIndex service, RungIndex rung, BlockIndex block);
  void balance_price(std::size_t at);
  [[nodiscard]] double supply_of(std::size_t at) const;
  void move_price(std::size_t at, double to);

  PriceFrame frame_;
  Demand demand_;
  Supply supply_;
  double bound_ = 0;
  std::vector<double> prices_;
  std::vector<double> best_prices_;
  std::vector<double> scales_;
  std::vector<double> slope_;  ///< supply minus demand
  std::vector<double> taken_;  ///< demand of the services, as slopes
  std::vector<double> direction_;
  std::vector<double> reference_;  ///< [price]: typical prices
  double spread_ = 0.05;           ///< relative shortfall from the best within which a piece still gets a share
};

}  // namespace berth::planner::fleet
