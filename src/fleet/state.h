/// A schedule that grows by changes of single GPUs, with its worth kept up to date.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fleet/space.h"
#include "fleet/terms.h"

namespace berth::planner::fleet {

/// A piece of a path. `until` slots + 1: to the end of the tail, in which every piece is ready.
struct Stay {
  Piece piece;
  KindIndex kind;
  SlotIndex from;
  SlotIndex ready;
  SlotIndex until;
};

/// What a GPU does.
struct Path {
  std::vector<Change> changes;
  std::vector<Stay> stays;
  std::vector<std::pair<ServiceIndex, int>> changed;  ///< {service, slices created and destroyed}, ascending
  int slices_changed = 0;                             ///< created and destroyed, also those of nobody
};

/// The path of these changes. Requires: they may be carried out.
[[nodiscard]] Path make_path(const Terms& terms, GpuIndex gpu, std::vector<Change> changes);

/// What a GPU should hold, as legal changes: those that come too early wait, what is in nobody's way stays, pins are
/// kept. `stays_until` of the standing pieces. Nothing where a pin cannot be kept.
[[nodiscard]] std::vector<Change> changes_towards(const Terms& terms, GpuIndex gpu,
                                                  const std::vector<SlotIndex>& stays_until,
                                                  const std::vector<PlannedPiece>& wanted);

/// Whether these changes (legal ones, perhaps moved in time) keep the rules on when changes begin.
[[nodiscard]] bool may_carry_out(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes);

/// Whether what these changes lead to keeps pins and isolation.
[[nodiscard]] bool keeps_rules(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes);

/// The first slot from `slot` on in which a GPU with these changes may change, those of later slots left aside; the
/// tail: none.
[[nodiscard]] SlotIndex next_free(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes, SlotIndex slot);

/// The changes of a path with another piece in place of a stay's in the slots [from, until).
[[nodiscard]] std::vector<Change> lent(const GpuTerms& gpu, const Path& path, const Stay& stay, const Piece& piece,
                                       SlotIndex from, SlotIndex until);

/// The changes of a path with one piece given to somebody else for as long as it stands; those that change nothing any
/// more are left out. Requires: the stay began with a change.
[[nodiscard]] std::vector<Change> given_away(const GpuTerms& gpu, const Path& path, const Stay& stay,
                                             const Piece& piece);

/// How the model of a service is over time.
struct Freshness {
  std::vector<char> is_fresh;  ///< [slot]
  double tail_fresh_seconds = 0;
  double model_value = 0;  ///< at the end of the window: of progress, or of a fresh model beyond the tail
};
[[nodiscard]] Freshness freshness_of(const Terms& terms, ServiceIndex service, const std::vector<double>& progress);

/// What a service adds to the objective with a capacity [slot x variants + variant] and progress [slot].
[[nodiscard]] double value_of(const Terms& terms, ServiceIndex service, const std::vector<double>& capacity,
                              const std::vector<double>& progress);

/// What may lack of a floor, as a share of it: rounding.
inline constexpr double kFloorSlack = 5e-10;

/// What a service has over time.
struct ServiceState {
  std::vector<double> capacity;  ///< [slot x variants + variant], slots + 1 slots
  std::vector<double> standing;  ///< requests a second that count for the floor, [slot]
  std::vector<double> progress;  ///< [slot]
  std::vector<int> retraining;   ///< pieces, [slot]
  int changed = 0;
  double value = 0;      ///< its part of the objective
  double shortfall = 0;  ///< sum over slots of what lacks of the floor, as a share of it
  double excess = 0;     ///< changes beyond the budget and slots with two retraining pieces
  [[nodiscard]] double score(const Terms& terms) const {
    return value - terms.shortfall_price * shortfall - terms.excess_price * excess;
  }
};

class FleetState {
 public:
  /// What stands stays.
  explicit FleetState(const Terms& terms);

  [[nodiscard]] const Terms& terms() const { return *terms_; }
  [[nodiscard]] const Path& path(GpuIndex gpu) const { return paths_[idx(gpu)]; }
  [[nodiscard]] const ServiceState& service(ServiceIndex service) const { return services_[idx(service)]; }
  [[nodiscard]] double score() const;
  [[nodiscard]] double objective() const;
  [[nodiscard]] double shortfall() const;
  [[nodiscard]] double excess() const;

  /// A copy, for which caches of another state's worths do not hold: all is touched.
  [[nodiscard]] FleetState branch() const {
    FleetState copy = *this;
    copy.is_touched_.assign(is_touched_.size(), 1);
    return copy;
  }
  /// Takes a GPU out: its path counts no more until `put` (values of its services are not up to date meanwhile).
  void take_out(GpuIndex gpu);
  void put(GpuIndex gpu, Path path);
  /// The score with a GPU that is taken out on a path. It stays out.
  [[nodiscard]] double score_with(GpuIndex gpu, Path path);
  /// The services whose capacity changed since the last call, ascending. For caches.
  [[nodiscard]] std::vector<ServiceIndex> take_touched();

 private:
  void add(const Path& path, ModelIndex model, int sign);
  void renew(ServiceIndex service);

  const Terms* terms_;
  std::vector<Path> paths_;
  std::vector<ServiceState> services_;
  std::vector<char> is_touched_;
  int slices_changed_ = 0;
};

/// The fleet under a schedule. Requires: its changes may be carried out.
[[nodiscard]] FleetState state_of(const Terms& terms, const Schedule& schedule);

}  // namespace berth::planner::fleet
