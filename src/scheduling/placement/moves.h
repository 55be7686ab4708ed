/// Moving slices so that a pod fits that otherwise fits nowhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/placement/cluster.h"

namespace berth::placement {

/// A placed pod, with the data needed to move it.
struct Lying {
  std::int64_t decision = 0;
  ShapeIndex shape;
  Spot spot;
};

/// Slices of an earlier decision get a new place.
struct Move {
  std::int64_t decision = 0;
  Spot spot;
};

/// The movable pods of each GPU: each has one slice.
class MovablePods {
 public:
  explicit MovablePods(const Cluster& cluster)
      : by_gpu_(static_cast<std::size_t>(cluster.node_count()) * kNodeGpusMax) {}

  void add(const Lying& pod);
  void remove(const Lying& pod);
  [[nodiscard]] const std::vector<Lying>& on(NodeIndex node, int gpu) const { return by_gpu_[place(node, gpu)]; }

 private:
  [[nodiscard]] static std::size_t place(NodeIndex node, int gpu) {
    return static_cast<std::size_t>(node) * kNodeGpusMax + static_cast<std::size_t>(gpu);
  }
  std::vector<std::vector<Lying>> by_gpu_;
};

/// Pods whose slices would have to move, and where the new pod would then be.
struct Clearance {
  std::vector<Lying> pods;
  Spot spot;
};

/// Ways to make room for a pod by moving at most this many slices; the fewest first, then in the order of nodes and
/// GPUs. At most `kClearancesMax` for each number of slices. Whether the slices fit elsewhere is not checked. O(nodes x
/// GPUs x subsets of the slices on one).
inline constexpr std::size_t kClearancesMax = 16;
[[nodiscard]] std::vector<Clearance> clearances_for(const Cluster& cluster, const MovablePods& movable,
                                                    ShapeIndex shape, int moves_max);

/// The parts that making room changes: the cluster, and the placer that keeps scores of its nodes.
struct MovingParts {
  Cluster* cluster = nullptr;
  std::function<void(NodeIndex)> touch;
  /// A new place with the same slices for a pod that is still placed, without touching what is kept free for another;
  /// nothing if there is none.
  std::function<std::optional<Spot>(const Lying&, const Spot& kept_free)> choose_again;
  /// A place for the pod that needs room.
  std::function<std::optional<Spot>()> choose;
};

/// A pod that was placed, and the moves made for it.
struct RoomMade {
  Spot spot;
  std::vector<Move> moves;
};
/// Applies the first of the clearances whose slices all fit elsewhere, one after the other: each moves to a place that
/// is free while the slice is still at its old one. The cluster then has the pod and the slices at their new places; if
/// no clearance works it is unchanged.
[[nodiscard]] std::optional<RoomMade> make_room(const std::vector<Clearance>& clearances, const Shape& shape,
                                                const MovingParts& parts);

}  // namespace berth::placement
