/// A schedule that grows by changes of single GPUs, with its worth kept up to date.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/many_gpus/space.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// A piece of a path. `until` slots + 1: to the end of the tail, in which every piece is ready.
struct Stay {
  Piece piece;
  KindIndex kind;
  SlotIndex from;
  SlotIndex ready;
  SlotIndex until;
};

/// The schedule of one GPU.
struct Path {
  std::vector<Change> changes;
  std::vector<Stay> stays;
  std::vector<std::pair<ServiceIndex, int>> changed;  ///< {service, slices created and destroyed}, ascending
  int slices_changed = 0;                             ///< created and destroyed, unowned ones included
};

/// The path of these changes. Requires: they may be carried out.
[[nodiscard]] Path make_path(const Terms& terms, GpuIndex gpu, std::vector<Change> changes);

/// Turns the wanted pieces of a GPU into legal changes: changes that are too early are delayed, pieces that do not
/// block others stay, pins are kept. `stays_until`: of the standing pieces. Nothing if a pin cannot be kept.
[[nodiscard]] std::vector<Change> changes_towards(const Terms& terms, GpuIndex gpu,
                                                  const std::vector<SlotIndex>& stays_until,
                                                  const std::vector<PlannedPiece>& wanted);

/// Whether these changes, which are legal but may have been moved in time, obey the rules on when changes may begin.
[[nodiscard]] bool may_carry_out(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes);

/// Whether the configurations after these changes keep pins and isolation.
[[nodiscard]] bool keeps_rules(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes);

/// The first slot, from `slot` on, in which a GPU with these changes may change; changes of later slots are ignored.
/// The tail if there is none.
[[nodiscard]] SlotIndex next_free(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes, SlotIndex slot);

/// The changes of a path with another piece instead of the stay's in the slots [from, until).
[[nodiscard]] std::vector<Change> lent(const GpuTerms& gpu, const Path& path, const Stay& stay, const Piece& piece,
                                       SlotIndex from, SlotIndex until);

/// The changes of a path with one piece given to another service for its whole life; changes that become empty are left
/// out. Requires: the stay began with a change.
[[nodiscard]] std::vector<Change> given_away(const GpuTerms& gpu, const Path& path, const Stay& stay,
                                             const Piece& piece);

/// The freshness of a service's model over time.
struct Freshness {
  std::vector<char> is_fresh;  ///< [slot]
  double tail_fresh_seconds = 0;
  double model_value = 0;  ///< the value, at the end of the window, of progress or of a fresh model beyond the tail
};
/// The freshness of a service's model with this progress per slot, [slot]. O(slots).
[[nodiscard]] Freshness freshness_of(const Terms& terms, ServiceIndex service, const std::vector<double>& progress);

/// The contribution of a service to the objective with a capacity [slot x variants + variant] and progress [slot].
[[nodiscard]] double value_of(const Terms& terms, ServiceIndex service, const std::vector<double>& capacity,
                              const std::vector<double>& progress);

/// The shortfall of a floor that is attributed to rounding, as a share of it.
inline constexpr double kFloorSlack = 5e-10;

/// The capacity and progress of a service over time.
struct ServiceSupply {
  std::vector<double> capacity;  ///< [slot x variants + variant], slots + 1 slots
  std::vector<double> standing;  ///< what counts for the floor, in its unit, [slot]
  std::vector<double> progress;  ///< [slot]
  std::vector<int> retraining;   ///< pieces, [slot]
  std::vector<int> serving;      ///< inference pieces, [slot]; empty where their number has no limit
  int changed = 0;
  double value = 0;      ///< its part of the objective
  double shortfall = 0;  ///< sum over slots of the shortfall of the floor, as a share of it
  double excess = 0;     ///< changes beyond the budget, slots with two retraining pieces, slices beyond slices_max
  [[nodiscard]] double score(const Terms& terms) const {
    return value - terms.shortfall_price * shortfall - terms.excess_price * excess;
  }
};

class FleetState {
 public:
  /// The state without changes: the standing pieces stay.
  explicit FleetState(const Terms& terms);

  [[nodiscard]] const Terms& terms() const { return *terms_; }
  [[nodiscard]] const Path& path(GpuIndex gpu) const { return paths_[idx(gpu)]; }
  [[nodiscard]] const ServiceSupply& service(ServiceIndex service) const { return services_[idx(service)]; }
  [[nodiscard]] double score() const;
  [[nodiscard]] double objective() const;
  [[nodiscard]] double shortfall() const;
  [[nodiscard]] double excess() const;

  /// A copy in which all services count as touched, because caches of the original's worths are not valid for it.
  [[nodiscard]] FleetState branch() const {
    FleetState copy = *this;
    copy.is_touched_.assign(is_touched_.size(), 1);
    return copy;
  }
  /// Takes a GPU out: its path does not count until `put`. The values of its services are out of date until then.
  void take_out(GpuIndex gpu);
  /// Puts a GPU back with a path. Requires: it is taken out.
  void put(GpuIndex gpu, Path path);
  /// The score if a GPU that is taken out had this path. It stays taken out.
  [[nodiscard]] double score_with(GpuIndex gpu, Path path);
  /// The services whose capacity changed since the last call, ascending. For caches.
  [[nodiscard]] std::vector<ServiceIndex> take_touched();

 private:
  void add(const Path& path, ModelIndex model, int sign);
  void renew(ServiceIndex service);

  const Terms* terms_;
  std::vector<Path> paths_;
  std::vector<ServiceSupply> services_;
  std::vector<char> is_touched_;
  int slices_changed_ = 0;
};

/// The fleet under a schedule. Requires: its changes may be carried out.
[[nodiscard]] FleetState state_of(const Terms& terms, const Schedule& schedule);

}  // namespace berth::planner::fleet
