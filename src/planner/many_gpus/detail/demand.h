/// The services' part of the bound: the demand of each at given prices, and its worth minus the payment.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/many_gpus/detail/balance.h"
#include "planner/many_gpus/detail/price_frame.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

class Demand {
 public:
  /// The demand of a service at one price, and its worth minus the payment.
  struct Taken {
    double worth = 0;
    double capacity = 0;
  };

  /// The frame must outlive this.
  explicit Demand(const PriceFrame& frame);

  /// The sum over services of the largest worth of capacity and completions minus their cost at the prices. Demand is
  /// subtracted from `slope`, capacity outside the GPUs is added.
  double value(const std::vector<double>& prices, std::vector<double>& slope);
  /// A rung's part in a slot where capacity costs `price` and a request served is worth `step`.
  [[nodiscard]] Taken take(ServiceIndex service, SlotIndex slot, double step, double price) const;
  /// The steps of a service's demand in a block, by falling price, with the freshness at the prices of the last
  /// `value`. Requires: renew_levels of the service.
  [[nodiscard]] const std::vector<DemandLevel>& levels(ServiceIndex service, RungIndex rung, BlockIndex block) const;
  void renew_levels(ServiceIndex service);
  /// Capacity on other GPUs in variants up to a rung, summed over a block.
  [[nodiscard]] double outside(ServiceIndex service, RungIndex rung, BlockIndex block) const;
  /// The upper limit of each price, and the scale of its steps for subgradients.
  [[nodiscard]] const std::vector<double>& price_max() const { return price_max_; }
  [[nodiscard]] const std::vector<double>& scales() const { return scales_; }

 private:
  /// A service's loads of each slot, largest first, and the sum of those from each on.
  struct Loads {
    std::vector<double> sorted;
    std::vector<double> rest;
  };
  /// Sums over the slots of a block if the capacity is the (k + 1)th largest load of each, [block x samples + k].
  struct Ranks {
    std::vector<double> capacity;
    std::vector<double> served;
    std::vector<double> outside;  ///< [rung x blocks + block]
  };
  /// A range of slots from one due slot to the next.
  struct Epoch {
    SlotIndex begin;
    SlotIndex end;
    bool is_last = false;
    bool is_fresh = false;
    SlotIndex fresh_from{-1};  ///< the end of a swap in progress; -1: none
    double progress = 0;
    SlotIndex counts_from;  ///< slot from which progress counts
  };
  /// Worth of a service minus its payments in the slots before each slot, by freshness.
  struct NetWorth {
    std::vector<double> stale;
    std::vector<double> fresh;
    double tail_stale = 0;
    double tail_fresh = 0;
  };
  struct Completion {
    double worth = 0;
    SlotIndex slot{-1};  ///< completed at its beginning; -1: not in this epoch
  };

  void sort_loads();
  void add_ranks(ServiceIndex service);
  void set_scales();
  void set_scales_of(ServiceIndex service);
  double value_of_service(ServiceIndex service);
  double value_always_fresh(ServiceIndex service);
  [[nodiscard]] NetWorth net_worth(ServiceIndex service) const;
  [[nodiscard]] std::vector<Epoch> epochs(ServiceIndex service) const;
  double value_of_epoch(ServiceIndex service, const Epoch& epoch, const NetWorth& net);
  [[nodiscard]] Completion best_completion(ServiceIndex service, const Epoch& epoch, const NetWorth& net) const;
  double pay_progress(ServiceIndex service, SlotIndex from, SlotIndex until, double amount, double limit,
                      bool is_charged, double* bought) const;
  double charge(ServiceIndex service, SlotIndex slot, bool is_fresh);
  void gather_levels(ServiceIndex service, SlotIndex slot, RungIndex rung, bool is_fresh);
  void set_levels(ServiceIndex service);
  void merge_levels(ServiceIndex service);

  const PriceFrame* frame_;
  const Terms* terms_;
  std::vector<Loads> loads_;
  std::vector<Ranks> ranks_;
  std::vector<double> rate_max_;  ///< [service]: progress in a slot
  std::vector<double> price_max_;
  std::vector<double> scales_;
  std::vector<std::vector<std::vector<DemandLevel>>> levels_;  ///< [service][rung x blocks + block]
  /// [service][((rung x blocks + block) x 2 + is fresh) x samples + k]: the amount that is taken in addition where the
  /// price falls below (k + 1) / samples of the step. Only with retraining.
  std::vector<std::vector<double>> gathered_;
  // Arguments of the current call of `value`.
  const double* prices_ = nullptr;
  std::vector<double>* slope_ = nullptr;
};

}  // namespace berth::planner::fleet
