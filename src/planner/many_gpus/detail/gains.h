/// The worth of additional capacity to services, given their current capacity: slopes of the exact concave worth.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/many_gpus/detail/bound.h"
#include "planner/many_gpus/space.h"
#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// Worth of a piece of one kind and use before each slot, [slots + 2].
struct Gain {
  std::vector<double> ready;
  std::vector<double> stands;  ///< empty if the floor is met
  std::int64_t stamp = -1;     ///< of the service's capacity used for the computation; -1: none
};

/// The capacity that a GPU gives a service, averaged over the paths tried.
struct OwnCapacity {
  ServiceIndex service;
  std::vector<double> capacity;  ///< [slot x variants + variant]
  bool is_sure = false;          ///< the GPU gives all of it, in addition to the piece in question
};

class GainTables {
 public:
  /// After the first slots only every `stride`th one is evaluated; it represents those around it.
  GainTables(const Terms& terms, int stride);

  /// Limits worths to these caps.
  void set_caps(std::optional<PriceCaps> caps);
  /// Keeps only the uses of each kind that are worth at least `share` of its best use at the caps, and each service's
  /// best kinds.
  void keep_candidates(double share);

  /// Invalidates the gains of services whose capacity changed since the last call. Returns those services.
  std::vector<ServiceIndex> note_changes(FleetState& state);
  void forget(const std::vector<ServiceIndex>& services);
  /// The offers of a service on a kind; if `own` has the service, given the capacity in `own`.
  [[nodiscard]] std::vector<Offer> offers_of(const FleetState& state, ModelIndex model, KindIndex kind,
                                             ServiceIndex service, const std::vector<OwnCapacity>& own);
  /// The {service, use} pairs that a kind may be given to.
  [[nodiscard]] const std::vector<std::pair<ServiceIndex, int>>& candidates(ModelIndex model, KindIndex kind) const {
    return candidates_[idx(model)][idx(kind)];
  }
  const Gain& gain(const FleetState& state, ModelIndex model, KindIndex kind, ServiceIndex service, int use,
                   const std::vector<OwnCapacity>& own);

 private:
  /// Slots that are treated as equal.
  struct EqualSlots {
    SlotIndex begin;
    SlotIndex end;
    [[nodiscard]] SlotIndex middle() const { return begin + (end - begin) / 2; }
  };

  void compute(const FleetState& state, ServiceIndex service, int use, double rate, const OwnCapacity* own, Gain& gain);
  void compute_floor(const FleetState& state, ServiceIndex service, int use, double rate, const OwnCapacity* own,
                     Gain& gain);
  static void add_equal_slots(std::vector<double>& sums, const EqualSlots& equal, double worth);
  const Freshness& freshness(const FleetState& state, ServiceIndex service);

  const Terms* terms_;
  std::vector<EqualSlots> equal_slots_;
  std::optional<PriceCaps> caps_;
  std::int64_t clock_ = 0;
  std::vector<std::int64_t> stamps_;  ///< [service]
  std::vector<std::optional<Freshness>> freshness_;
  std::vector<std::vector<std::vector<std::vector<Gain>>>> gains_;                  ///< [model][kind][service][use]
  std::vector<std::vector<std::vector<std::pair<ServiceIndex, int>>>> candidates_;  ///< [model][kind]
};

}  // namespace berth::planner::fleet
