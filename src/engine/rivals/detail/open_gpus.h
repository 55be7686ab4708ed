/// GPUs that are being filled piece by piece: which kinds still fit with those already placed. Starts are chosen at
/// the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/rivals/detail/fleet_view.h"

namespace berth::partition::detail {

/// A kind of slice of one model of the fleet.
struct ModelKind {
  int model = 0;
  int kind = 0;
  friend bool operator==(const ModelKind&, const ModelKind&) = default;
};

/// Requires: the fleet outlives it; each model has at most 64 shapes.
class OpenGpus {
 public:
  explicit OpenGpus(const FleetView& fleet);

  [[nodiscard]] bool fits(int gpu, int kind) const;
  /// The first GPU of the model on which the kind still fits; nothing if there is none. Amortised O(1): a kind that
  /// does not fit on a GPU never fits there again.
  [[nodiscard]] std::optional<int> first_fit(ModelKind wanted);
  /// Requires: it fits.
  void give(int gpu, int kind, int service);

  /// The plan: on each GPU the first partition that contains the pieces given; pieces of a kind go to their owners in
  /// ascending order.
  [[nodiscard]] FleetPlan plan() const;

 private:
  const FleetView* fleet_;
  std::vector<std::uint64_t> shapes_left_;            ///< [gpu], a bit for each shape that still holds all
  std::vector<std::vector<std::vector<int>>> given_;  ///< [gpu][kind] -> services, in the order of giving
  std::vector<std::vector<std::size_t>> first_open_;  ///< [model][kind] -> position in ModelView::gpus
};

/// Gives every service one piece that can serve it, first fit: services with the fewest models first, then those that
/// need the largest pieces; of each the kinds in the order of `choices[service]`. A service that finds no room moves to
/// the front and everything begins again, at most `kCoverRoundsMax` times. Nothing if no room was found for all;
/// on one GPU, where every combination of kinds is tried, that is a proof, otherwise not.
inline constexpr int kCoverRoundsMax = 64;
[[nodiscard]] std::optional<OpenGpus> cover_services(const FleetView& fleet,
                                                     std::span<const std::vector<ModelKind>> choices);

/// For each service the kinds that can serve it, fewest SMs first.
[[nodiscard]] std::vector<std::vector<ModelKind>> smallest_kinds(const FleetView& fleet);

/// The reason that the fleet has no room for a piece of every service: proven on one GPU, where the caller searched
/// exactly, or if there are more services than pieces; otherwise a search found none.
[[nodiscard]] Infeasible no_room(const FleetView& fleet);
/// The most pieces into which the fleet can be partitioned.
[[nodiscard]] std::int64_t pieces_max(const FleetView& fleet);

}  // namespace berth::partition::detail
