/// Prices that make the bound of one GPU small.
#pragma once

#include <span>
#include <vector>

#include "planner/one_gpu/detail/model_state.h"
#include "planner/one_gpu/detail/service_bound.h"

namespace berth::planner {

/// The holdings of a service at the first slot in which a change may begin.
struct ServiceStart {
  BundleIndex bundle = BundleIndex(0);
  ModelState state;
};

/// The bounds of all services of a GPU at common prices.
class PriceBound {
 public:
  /// Keeps a reference to the case. Blocks of prices have about `block_slots` slots. `tune_rounds`: rounds of the
  /// search for the prices of progress.
  PriceBound(const GpuCase& gpu_case, std::vector<ServiceStart> starts, int block_slots, int tune_rounds);

  /// Lowers the bound for at most this many rounds; `known` is the value of a solution from first_slot on (the target
  /// of Polyak's step). Stops if the bound is within `gap` of it.
  void descend(double known, double gap, int rounds);

  /// The bound: no schedule is worth more from first_slot on.
  [[nodiscard]] double value() const { return value_; }

  /// An upper bound, at these prices, on the gain of a service net of its rent from slot t on. Summed over the services
  /// and added to income(t), it bounds the worth from t on.
  [[nodiscard]] double from(ServiceIndex service, SlotIndex t, BundleIndex bundle, const ModelState& state) const {
    const ServiceBound& bound = services_[service];
    if (!state.is_open()) return bound.from_fresh(t, bundle);
    return bound.from_stale(t, bundle, state.progress);
  }
  [[nodiscard]] double income(SlotIndex t) const { return sums_.income[t]; }
  [[nodiscard]] const PriceSums& sums() const { return sums_; }
  [[nodiscard]] const Prices& prices() const { return prices_; }
  [[nodiscard]] const ServiceBound& service(ServiceIndex service) const { return services_[service]; }

 private:
  void start_kinds();
  void start_progress();
  void tune_progress(int rounds);
  [[nodiscard]] std::vector<double> value_of_rooms(ServiceIndex service, PriceBlockIndex block, SlotIndex from,
                                                   SlotIndex to) const;
  double compute(const Prices& prices, std::span<const double> factors);
  void set_sums(const Prices& prices);
  struct Slope {
    std::vector<double> kinds;                  ///< [block x kinds + kind], per second of the block
    std::vector<std::vector<double>> progress;  ///< [service][epoch]
    double norm = 0;                            ///< squared norm, in the metric of the steps
  };
  [[nodiscard]] std::vector<double> supply_of(PriceBlockIndex block) const;
  [[nodiscard]] Slope slope() const;
  void turn(Slope slope);
  void step(const Slope& slope, double length, Prices& prices) const;

  const GpuCase& case_;
  std::vector<ServiceStart> starts_;
  int block_slots_;
  std::vector<ServiceBound> services_;
  Prices prices_;
  PriceSums sums_;
  std::vector<RoomIndex> most_expensive_;  ///< [block], a room
  std::vector<double> retraining_slots_;   ///< [service], of the fastest kind
  double value_ = 0;
  Prices now_;
  double now_value_ = 0;
  Slope direction_;     ///< of the last step
  double share_ = 0.5;  ///< of Polyak's step
};

}  // namespace berth::planner
