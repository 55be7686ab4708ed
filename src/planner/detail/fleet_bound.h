/// The bound: Lagrangian duality.
///
/// Prices, constant in stretches of slots, on what services take from GPUs:
///     z[i, w]   a request a second of capacity in the variants up to rung w of the ladder of service i,
///     q[i]      progress of its retraining,      f[i]  a request a second towards its floor,
///     c[i]      a slice of its budget of changes.
/// For any prices >= 0,
///     sum over services of max over capacity, completions of (worth - price of what is taken)
///   + sum over GPUs of A(root, end) at these prices                     (fleet_space.h)
///   - sum f x floor + sum c x budget
/// is at least the objective of every schedule that keeps floors and budgets. The prices come down by subgradients with
/// Polyak's step (B. T. Polyak, Minimization of unsmooth functionals, 1969), smoothed over steps; large fleets balance
/// each service with what GPUs offer it, softly (fleet_balance.h), with momentum.
///
/// Prices that are constant between points, and points where those prices change, less the slots until a piece is
/// ready: between two such points the worth of a schedule is linear (or convex) in the time of a change, so changes at
/// points are the best, and the grid loses nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/detail/fleet_balance.h"
#include "planner/detail/fleet_shares.h"
#include "planner/detail/fleet_space.h"
#include "planner/detail/fleet_state.h"
#include "planner/detail/fleet_terms.h"

namespace berth::planner::fleet {

struct BoundOptions {
  int steps = 100;
  double novelty = 0.1;          ///< share of the last slope in the direction (volume algorithm)
  int gpus_max = 1'000'000'000;  ///< more are sampled: the bound is then no bound, but the prices are good
  double gap = 0;                ///< (bound - objective) / |bound| that is enough
};

struct BalanceOptions {
  int steps = 50;
  int gpus_max = 1'000'000'000;  ///< as in BoundOptions
  double softness_first = 0.05;
  double softness_last = 0.003;
};

/// What a request a second is worth at most where others would take it for that, in each slot (the tail as a whole).
struct PriceCaps {
  std::vector<std::vector<std::vector<double>>> serving;  ///< [service][variant][slot]
  std::vector<std::vector<double>> floor;                 ///< [service][slot]; empty without a floor
};

class PriceSearch {
 public:
  /// `starts`: where prices may change, ascending slots from 0.
  PriceSearch(const Terms& terms, std::vector<int> starts);

  /// Prices at which GPUs as one divisible mass, changed for nothing, earn as much with each service that they serve:
  /// for each stretch a rent for each GPU model, by coordinates.
  void start_from_rents();
  /// Then all of them by one factor, the best for so many GPUs. Goes before run_balance.
  void scale_rents(int gpus_max);
  /// Lowers the bound. `objective`: of a schedule that is known.
  void run(double objective, const BoundOptions& options);
  /// Lowers the bound from far: each service in turn with the GPUs (fleet_balance.h), softly, then less and less so.
  void run_balance(const BalanceOptions& options);
  [[nodiscard]] double bound() const { return bound_; }
  /// Takes the prices of the best bound (before caps).
  void take_best_prices();
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }
  /// The prices of capacity and of floors in each slot, [service][variant][slot] and [service][slot].
  [[nodiscard]] PriceCaps caps() const;

 private:
  /// Where the prices of a service begin in the list of all.
  struct Places {
    std::size_t capacity = 0;  ///< [rung x blocks + block]
    std::size_t floor = 0;     ///< [block]; only with a floor
    std::size_t progress = 0;  ///< [block]; only with retraining
    std::size_t change = 0;    ///< only with a budget
  };
  /// Prices of a service summed over the slots before each, [slots + 2].
  struct Sums {
    std::vector<std::vector<double>> serving;  ///< [variant]
    std::vector<double> floor;
    std::vector<double> progress;
  };
  /// A service's loads of each slot, largest first, and the sum of those from each on.
  struct Loads {
    std::vector<double> sorted;
    std::vector<double> rest;
  };
  /// Sums over a stretch's slots where the capacity is the (k + 1)th largest load of each, [block x samples + k].
  struct Ranks {
    std::vector<double> capacity;
    std::vector<double> served;
    std::vector<double> outside;  ///< [rung x blocks + block]
  };
  struct Taken {
    double worth = 0;
    double capacity = 0;
  };
  /// A stretch of time from one due slot to the next.
  struct Segment {
    int begin = 0;
    int end = 0;
    bool is_last = false;
    bool is_fresh = false;
    int fresh_from = -1;  ///< a swap is under way
    double progress = 0;
    int counts_from = 0;  ///< progress since then counts
  };
  /// Worth of a service less what it pays, before each slot, by freshness.
  struct NetWorth {
    std::vector<double> stale;
    std::vector<double> fresh;
    double tail_stale = 0;
    double tail_fresh = 0;
  };
  struct Completion {
    double worth = 0;
    int slot = -1;  ///< done at its begin; -1: not in this segment
  };

  [[nodiscard]] std::size_t blocks() const { return starts_.size() + 1; }  ///< the last one is the tail
  [[nodiscard]] std::size_t block_of(int slot) const { return idx(block_of_[idx(slot)]); }
  [[nodiscard]] const ServiceTerms& service_terms(int service) const { return terms_->problem.services[idx(service)]; }
  void set_delays();
  void set_whole();
  void price_progress();
  void set_rents(std::size_t block);
  [[nodiscard]] double surplus_of_rent(std::size_t block, int model, const std::vector<double>& rents) const;
  void set_prices_by_rents(std::size_t block, int service, const std::vector<double>& rents, double* prices) const;
  void place_prices();
  void sort_loads();
  void set_scales();
  void set_scales_of(int service);
  void sum_prices();
  double value();
  double value_of_service(int service);
  [[nodiscard]] double step_of(int service, std::size_t rung, bool is_fresh) const;
  [[nodiscard]] double step_in_tail(int service, std::size_t rung, bool is_fresh) const;
  [[nodiscard]] Taken take(int service, int slot, double step, double price) const;
  double charge(int service, int slot, bool is_fresh);
  [[nodiscard]] NetWorth net_worth(int service) const;
  [[nodiscard]] std::vector<Segment> segments(int service) const;
  double value_of_segment(int service, const Segment& segment, const NetWorth& worth);
  [[nodiscard]] Completion best_completion(int service, const Segment& segment, const NetWorth& worth) const;
  double pay_progress(int service, int from, int until, double amount, double limit, bool is_charged,
                      double* bought) const;
  double value_of_gpus();
  void fill_spaces();
  [[nodiscard]] std::vector<Offer> offers_of(int model, int kind, int service) const;
  double solve_gpu(int gpu);
  void add_supply(int gpu, double weight);
  void choose_gpus(int most);
  void add_ranks(int service);
  double value_always_fresh(int service);
  void add_wanted(int model, const Wanted& wanted, const Piece& piece, double share);
  void spread_pieces();
  void spread_piece(int model, int space, int kind, const Wanted& wanted, double count);
  void set_reference();
  void balance_service(int service);
  void balance_block(int service, std::size_t rung, std::size_t block);
  void balance_price(std::size_t at);
  [[nodiscard]] double supply_of(std::size_t at) const;
  void move_price(std::size_t at, double to);
  void set_levels(int service);
  void merge_levels(int service);
  void gather_levels(int service, int slot, std::size_t rung, bool is_fresh);
  void add_piece(int model, const Piece& piece, int from, int ready, int until, double share);
  void add_to_blocks(std::size_t place, int from, int until, double amount);
  [[nodiscard]] int space_of(int model, int group) const { return model * (terms_->groups + 1) + group; }

  const Terms* terms_;
  std::vector<int> starts_;
  std::vector<Readiness> serving_;  ///< [service], at most the real ones
  std::vector<int> block_of_;       ///< [slot], slots + 1
  std::vector<double> length_;      ///< [block], seconds
  Grid grid_;
  double bound_ = 0;
  std::int64_t nodes_ = 0;
  std::vector<Places> places_;
  std::vector<Loads> loads_;
  std::vector<Ranks> ranks_;
  std::vector<double> weights_;                          ///< [gpu]: how many it counts for
  std::vector<double> rate_max_;                         ///< [service]: progress in a slot
  std::vector<std::vector<std::vector<double>>> whole_;  ///< [model][service][rung]: what a whole GPU can serve
  std::vector<double> gpus_of_model_;
  std::vector<double> prices_;
  std::vector<double> best_prices_;
  std::vector<double> price_max_;
  std::vector<double> scales_;
  mutable std::vector<double> slope_;  ///< supply less what is taken
  std::vector<double> direction_;
  std::vector<Sums> sums_;
  std::vector<std::vector<std::vector<Offer>>> offers_;  ///< [space][kind]
  std::vector<std::vector<PieceTable>> tables_;          ///< [space][kind]
  std::vector<SpaceShares> shares_;                      ///< [space]
  std::vector<Room> rooms_;
  std::vector<double> reference_;  ///< [price]: what prices may be like
  std::vector<double> worths_;
  std::vector<double> taken_;                                  ///< what services take, as slopes
  std::vector<std::vector<std::vector<DemandLevel>>> levels_;  ///< [service][rung x blocks + block]
  /// [service][((rung x blocks + block) x 2 + is fresh) x samples + k]: more is taken where price falls below (k + 1) /
  /// samples of the step. Only with retraining.
  std::vector<std::vector<double>> gathered_;
  double spread_ = 0.05;                  ///< of its worth that a piece may be worse than the best and be taken in part
  std::vector<SpaceValues> spaces_;       ///< by space_of; the last group of a model: all services
  std::vector<std::vector<double>> any_;  ///< [model]: F of the root over all groups
  std::vector<std::vector<double>> any_base_;
  std::vector<PieceTable> pin_tables_;
  GpuWalk walk_;
  std::vector<StandingWorth> standing_;
  // Of the GPU solved last.
  int space_ = 0;
  int switch_point_ = 0;  ///< from which on other groups may be there
};

}  // namespace berth::planner::fleet
