/// Fragmentation: the free GPU milli that typical pods could not use where they are.
///
/// For a typical pod and a node, all free milli are fragments if it cannot run there (CPU only, wrong model, too little
/// CPU, too few GPUs with enough free), else those on GPUs that have too little free for it. A node's fragmentation is
/// the sum over the typical pods, each as often as the list has it: an integer.
///
/// Source: as rivals.h.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/placement/cluster.h"
#include "scheduling/placement/score_board.h"

namespace berth::placement {

class Fragmentation {
 public:
  explicit Fragmentation(const Problem& problem);

  /// GPU milli x rows. O(groups + GPUs x distinct GPU shares).
  [[nodiscard]] std::int64_t of(const NodeState& state);
  /// Rows of all typical pods: the weight of one milli that is a fragment for all.
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  struct Group {
    std::int64_t cpu_milli = 0;
    int gpu_count = 0;
    std::size_t share = 0;  ///< index into `shares_`
    std::int64_t count = 0;
  };
  /// For a node and a share: how many GPUs have that much free, and the free milli on the others.
  struct Suitable {
    int enough = 0;
    std::int32_t rest = 0;
  };
  std::vector<int> shares_;         ///< the distinct gpu_milli
  std::vector<Suitable> by_share_;  ///< of the node in the current call of `of`
  std::vector<std::vector<Group>> groups_of_model_;
  std::int64_t rows_ = 0;
};

/// FGD: how much a pod reduces the fragmentation of a node, mapped to 0 to 100 and truncated to an integer.
class FgdScores {
 public:
  explicit FgdScores(const Cluster& cluster);

  /// To be called when the node changed.
  void touch(NodeIndex node) { of_node_[static_cast<std::size_t>(node)] = kUnknown; }

  struct Choice {
    NodeScore score = kNoFit;
    GpuSet gpus = 0;
  };
  /// A shared pod takes the GPU with the highest score; ties: the lowest. Requires: the pod fits on the node.
  [[nodiscard]] Choice choice(NodeIndex node, const Shape& shape);

  [[nodiscard]] const Fragmentation& fragmentation() const { return fragmentation_; }

 private:
  static constexpr std::int64_t kUnknown = -1;

  [[nodiscard]] NodeScore score(std::int64_t before, const NodeState& state, const Shape& shape, GpuSet gpus);

  const Cluster* cluster_;
  Fragmentation fragmentation_;
  std::vector<std::int64_t> of_node_;
};

}  // namespace berth::placement
