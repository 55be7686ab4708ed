/// The free resources of nodes while pods are placed and leave.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/placement/problem.h"

namespace berth::placement {

/// GPUs of a node: bit g is GPU g.
using GpuSet = std::uint16_t;

/// The place of a pod. Slices are on one GPU, at these sites of the node's `Cut`.
struct Spot {
  NodeIndex node;
  GpuSet gpus = 0;
  mig::SiteSet slices = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

/// A node, as the policies see it. GPUs that it does not have have 0 free.
struct NodeState {
  std::int64_t cpu_free = 0;     ///< milli
  std::int64_t memory_free = 0;  ///< MiB
  std::int32_t gpu_free = 0;     ///< milli, of all GPUs; slices are not counted
  GpuSet whole_free = 0;         ///< empty GPUs
  std::int16_t gpu_count = 0;
  ModelIndex model;
  std::array<std::int16_t, kNodeGpusMax> free_of = {};  ///< milli, by GPU
};

/// The nodes of a run, in its order. A value: copying it copies the whole state.
class Cluster {
 public:
  /// `order` are the nodes of the problem, which must outlive the cluster.
  Cluster(const Problem& problem, std::vector<NodeIndex> order);

  [[nodiscard]] const Problem& problem() const { return *problem_; }
  [[nodiscard]] int node_count() const { return static_cast<int>(states_.size()); }
  [[nodiscard]] const NodeState& state(NodeIndex node) const { return states_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Node& node(NodeIndex node) const {
    return problem_->nodes[static_cast<std::size_t>(order_[static_cast<std::size_t>(node)])];
  }
  /// The sites that slices take on a GPU.
  [[nodiscard]] mig::SiteSet slices_on(NodeIndex node, int gpu) const {
    return slices_[static_cast<std::size_t>(node) * kNodeGpusMax + static_cast<std::size_t>(gpu)];
  }
  /// Pods on the node by number of GPUs; 0: shared pods. CPU-only pods are not counted.
  [[nodiscard]] const std::array<std::int32_t, kNodeGpusMax + 1>& pods_by_gpus(NodeIndex node) const {
    return pods_by_gpus_[static_cast<std::size_t>(node)];
  }

  /// Takes the pod's resources at the spot. Requires: they are free there.
  void place(const Spot& spot, const Shape& shape);
  /// Frees them again. Requires: they were taken there.
  void remove(const Spot& spot, const Shape& shape) { change(spot, shape, -1); }

  /// The GPU milli requested by placed pods; and the placement units taken by slices and by other pods, in thousandths
  /// of a GPU.
  [[nodiscard]] std::int64_t used_milli() const { return used_milli_; }
  [[nodiscard]] std::int64_t used_unit_milli() const { return used_unit_milli_; }

 private:
  void change(const Spot& spot, const Shape& shape, int sign);
  void change_slices(const Spot& spot, int sign);

  const Problem* problem_;
  std::vector<NodeIndex> order_;
  std::vector<NodeState> states_;
  std::vector<mig::SiteSet> slices_;  ///< by node and GPU; empty if nothing can be partitioned
  std::vector<std::array<std::int32_t, kNodeGpusMax + 1>> pods_by_gpus_;
  std::int64_t used_milli_ = 0;
  std::int64_t used_unit_milli_ = 0;
};

/// Whether CPU, memory and model of a node suit a pod.
[[nodiscard]] inline bool has_room_beside_gpus(const NodeState& state, const Shape& shape) {
  return state.cpu_free >= shape.cpu_milli && state.memory_free >= shape.memory_mib &&
         shape.fits_model[static_cast<std::size_t>(state.model)];
}

/// Whether a pod fits without slices; false for one that names a profile.
[[nodiscard]] bool fits(const NodeState& state, const Shape& shape);

/// The first GPUs that are free, as many as the pod has. Requires: it fits, and is not shared.
[[nodiscard]] GpuSet first_free_gpus(const NodeState& state, int gpu_count);
/// The GPU with the least sufficient free milli; ties: the lowest. Requires: a shared pod that fits.
[[nodiscard]] GpuSet tightest_gpu(const NodeState& state, int gpu_milli);
/// The GPUs of a pod that takes no slices: first_free_gpus, or tightest_gpu for a shared one.
[[nodiscard]] GpuSet usual_gpus(const NodeState& state, const Shape& shape);

}  // namespace berth::placement
