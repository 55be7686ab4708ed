/// Upper bounds of the window problem of one GPU from prices (Lagrangian relaxation).
///
/// The services of a GPU are coupled only by its space: in each slot their kinds together must be one of its rooms.
/// With a price for a slice of each kind in each slot, charged to the services and paid to the GPU,
///     D(prices) = sum over slots of the most expensive room + sum over services of the best value of each alone
/// is at least the value of the best schedule, for all prices. Alone, a service moves between bundles by a dynamic
/// program over (slot, bundle): a change costs the contribution of its new pieces until they are ready. A retraining is
/// relaxed in the same way: progress has a price that is paid to the service as it is made, and charged when the
/// retraining is completed.
///
/// D is convex; a subgradient method lowers it. Ignored by the bound: budgets, isolation, pins, places of pieces, that
/// a change waits for earlier ones, and the swap after a retraining.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The state of a service's model in the bound: fresh, stuck (stale until the next due slot), or in training, with one
/// phase for each price of progress.
using PhaseIndex = Index<struct PhaseTag>;
inline constexpr PhaseIndex kFresh(0);
inline constexpr PhaseIndex kStuck(1);
inline constexpr PhaseIndex kTraining(2);

/// Indices of the ranges of slots in which prices are constant, and of those between a service's due slots.
using PriceBlockIndex = Index<struct PriceBlockTag>;
using EpochIndex = Index<struct EpochTag>;

/// Prices of kinds, constant in blocks of slots, and of progress.
struct Prices {
  int kinds = 0;
  std::vector<PriceBlockIndex> block_of;      ///< [slot], slots + 1: the last one is the tail, a block of its own
  std::vector<double> seconds;                ///< [block]
  std::vector<double> kind;                   ///< [block x kinds + kind], per second
  std::vector<std::vector<double>> progress;  ///< [service][epoch], of a whole retraining

  [[nodiscard]] double of(PriceBlockIndex block, KindIndex k) const { return kind[ix(block) * ix(kinds) + ix(k)]; }
};

/// Sums of the prices over slots.
struct PriceSums {
  int rooms = 0;
  std::vector<double> room;    ///< [slot x rooms + room], the price of holding a room in the slots before
  std::vector<double> income;  ///< [slot], of the most expensive room from here to the end of the tail

  [[nodiscard]] const double* before(SlotIndex slot) const { return room.data() + ix(slot) * ix(rooms); }
};

/// The usage of the GPU by a service at its prices, for the subgradient.
struct Usage {
  std::vector<double> kinds;     ///< [block x kinds + kind], summed over the seconds of the block
  std::vector<double> progress;  ///< [epoch], made minus needed
};

/// The best value of one service alone, from each slot, phase and bundle on.
class ServiceBound {
 public:
  /// Keeps a reference to the case.
  ServiceBound(const GpuCase& gpu_case, ServiceIndex service);

  /// O(slots x bundles x items x factors). Keeps references to the prices. With several factors of the price of
  /// progress, each gives a bound and the smallest is used: a factor that suits the beginning does not suit a service
  /// that has since made much progress, or none.
  void compute(const Prices& prices, const PriceSums& sums, std::span<const double> factors);

  /// The bound from slot t >= first_slot on, after the effects of a due slot, with a ready bundle.
  [[nodiscard]] double from_fresh(SlotIndex t, BundleIndex bundle) const { return table(kFresh, t)[bundle]; }
  /// The same for a stale model. Requires: it retrains.
  [[nodiscard]] double from_stale(SlotIndex t, BundleIndex bundle, double progress) const;

  /// The factor, among those of the last `compute`, with the smallest bound for a stale model that enters an epoch with
  /// a bundle: at its due slot without progress or, for epoch 0, at first_slot with `progress`.
  [[nodiscard]] double best_factor(EpochIndex epoch, BundleIndex bundle, double progress) const;

  /// Properties of a slot for the model: whether a retraining is due, whether one may be completed at its beginning, or
  /// completed in time from some progress on; and the price of a whole retraining's progress. Requires: it retrains.
  [[nodiscard]] bool is_due(SlotIndex t) const {
    return t < end_ && epoch_[t] != (t == 0 ? EpochIndex(0) : epoch_[t - 1]);
  }
  [[nodiscard]] bool may_be_done(SlotIndex t) const { return t >= earliest_done_[epoch_[t]]; }
  [[nodiscard]] bool may_get_done(SlotIndex t, double progress) const;
  [[nodiscard]] bool keeps_unfinished() const { return keeps_unfinished_; }
  [[nodiscard]] double price_of_progress(SlotIndex t) const { return price_of_progress_[t]; }
  /// The price for a model that stays stale.
  [[nodiscard]] double stuck_price(SlotIndex t) const;

  /// The number of epochs: one more than due slots.
  [[nodiscard]] int epochs() const { return static_cast<int>(dues_.size()) + 1; }
  [[nodiscard]] bool retrains() const { return terms_.retraining.has_value(); }

 private:
  friend class ServicePath;
  /// Values with a smaller relative difference come from one path through the program.
  static constexpr double kSameValue = 1e-7;

  [[nodiscard]] const double* table(PhaseIndex phase, SlotIndex t) const {
    return tables_[phase].data() + ix(t - first_) * ix(count_);
  }
  [[nodiscard]] double* table(PhaseIndex phase, SlotIndex t) {
    return tables_[phase].data() + ix(t - first_) * ix(count_);
  }
  /// Value of the slots before t, [bundle].
  [[nodiscard]] const double* sums(PhaseIndex phase, SlotIndex t) const {
    return sums_[phase].data() + ix(t) * ix(count_);
  }
  [[nodiscard]] bool holds_floor(SlotIndex t, BundleIndex bundle) const {
    return t < floors_from_ || keeps_floor_[bundle] != 0;
  }
  [[nodiscard]] int phases() const { return retrains() ? static_cast<int>(kTraining + factors_.size()) : 1; }
  [[nodiscard]] double price_of(PhaseIndex phase, SlotIndex t) const {
    return price_of_progress_[t] * factors_[ix(phase - kTraining)];
  }
  /// The last slot at whose beginning a retraining can be completed before the next is due.
  [[nodiscard]] SlotIndex epoch_end(SlotIndex t) const {
    return ix(epoch_[t]) < dues_.size() && !keeps_unfinished_ ? dues_[epoch_[t]] - 1 : end_;
  }
  [[nodiscard]] std::size_t epoch_for_price(SlotIndex t) const { return keeps_unfinished_ ? 0 : ix(epoch_[t]); }

  void list_neighbours();
  void find_earliest_done();
  void set_factors(std::span<const double> factors);
  void add_rewards();
  void add_reward(PhaseIndex phase);
  struct Reward {
    double value = 0;
    KindIndex kind = kNoKind;
  };
  /// The best kind of slice to retrain on together with a bundle, in a slot of a block, at a price of progress.
  [[nodiscard]] Reward best_reward(PriceBlockIndex block, BundleIndex bundle, double price) const;
  void compute_tail();
  void compute_slot(SlotIndex t);
  void add_changes(SlotIndex t);
  void add_free_changes(SlotIndex t);
  [[nodiscard]] const double* entering(SlotIndex t, PhaseIndex phase) const;
  [[nodiscard]] double done_within(PhaseIndex phase, SlotIndex from, SlotIndex to, BundleIndex n) const;
  [[nodiscard]] double after_due(PhaseIndex b, SlotIndex due, SlotIndex end, BundleIndex n) const;
  [[nodiscard]] double window(PhaseIndex a, PhaseIndex b, SlotIndex t, SlotIndex end, BundleIndex n) const;

  [[nodiscard]] PhaseIndex phase_of_stale(SlotIndex t, BundleIndex bundle, double progress) const;

  const GpuCase& case_;
  const ServiceTerms& terms_;
  const Bundles& bundles_;
  ServiceIndex service_;
  SlotIndex end_;
  SlotIndex first_;
  SlotIndex floors_from_;
  int count_;
  bool keeps_unfinished_ = false;
  std::vector<SlotIndex> dues_;
  std::vector<BundleIndex> more_;  ///< bundles with one more piece, by bundle
  std::vector<int> more_begin_;    ///< [bundle], count + 1
  std::vector<BundleIndex> less_;  ///< bundles with one piece less
  std::vector<int> less_begin_;
  std::vector<double> factors_ = {1.0};    ///< [phase - kTraining]
  double fastest_ = 0;                     ///< progress per slot, on the best kind
  std::vector<EpochIndex> epoch_;          ///< [slot], slots + 1: due slots up to it
  std::vector<SlotIndex> earliest_done_;   ///< [epoch], a slot; slots + 1: not in the window
  std::vector<char> keeps_floor_;          ///< [bundle]
  std::vector<double> price_of_progress_;  ///< [slot], slots + 1
  std::vector<double> base_before_;        ///< [slot x bundle], sums of the value served by a stale model
  std::vector<std::vector<double>>
      done_gain_;                          ///< [slot x bundle], sums of the value of training minus that of being done
  std::vector<std::vector<double>> sums_;  ///< [slot x bundle]
  std::vector<std::vector<double>> tables_;   ///< [(slot - first) x bundle]
  std::vector<double> at_due_;                ///< [epoch x bundle], entering its due slot stale and without progress
  std::vector<double> never_;                 ///< [bundle]
  std::vector<std::vector<double>> scratch_;  ///< [bundle]
  const Prices* prices_ = nullptr;
  const PriceSums* price_sums_ = nullptr;
};

}  // namespace berth::planner
