/// Slices that are moved so that a pod fits which fits nowhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/placement/cluster.h"

namespace berth::placement {

/// A pod that lies somewhere: what is to be known to move it.
struct Lying {
  std::int64_t decision = 0;
  ShapeIndex shape;
  Spot spot;
};

/// Slices of an earlier decision lie somewhere else from now on.
struct Move {
  std::int64_t decision = 0;
  Spot spot;
};

/// Which pods lie on which GPU, as far as they can be moved: each has one slice.
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

/// Pods whose slices would have to go, and where the new pod would then lie.
struct Clearance {
  std::vector<Lying> pods;
  Spot spot;
};

/// Ways to make room for a pod with so many slices moved, at most; the fewest first, then in the order of nodes and
/// GPUs. At most `kClearancesMax` for each number of slices. Nothing is said about where the slices could go. O(nodes x
/// GPUs x subsets of the slices on one).
inline constexpr std::size_t kClearancesMax = 16;
[[nodiscard]] std::vector<Clearance> clearances_for(const Cluster& cluster, const MovablePods& movable,
                                                    ShapeIndex shape, int moves_max);

/// What making room changes: the cluster, and whoever keeps scores of its nodes.
struct MovingParts {
  Cluster* cluster = nullptr;
  std::function<void(NodeIndex)> touch;
  /// A new place for a pod that still lies, with the same slices and beside what is kept free for another; nothing if
  /// there is none.
  std::function<std::optional<Spot>(const Lying&, const Spot& kept_free)> choose_again;
  /// A place for the pod for which room is made.
  std::function<std::optional<Spot>()> choose;
};

/// A pod that was placed, and what was moved for it.
struct RoomMade {
  Spot spot;
  std::vector<Move> moves;
};
/// Takes the first of the clearances whose slices all fit somewhere else, one after the other: each moves to a place
/// that is free while it still lies. The cluster then has the pod and the slices at their new places; without one
/// nothing has changed.
[[nodiscard]] std::optional<RoomMade> make_room(const std::vector<Clearance>& clearances, const Shape& shape,
                                                const MovingParts& parts);

}  // namespace berth::placement
