/// Small lists of nodes and pods for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "scheduling/placement/problem.h"

namespace berth::placement::testing {

/// A node with this much CPU per GPU: {"T4", 4} has 4 GPUs and 4 x 8,000 CPU milli.
struct NodeSketch {
  std::string model = "T4";
  int gpus = 1;
  std::int64_t cpu_per_gpu = 8'000;
};
/// A pod; values that are not given are as small as possible.
struct PodSketch {
  int gpus = 1;
  int milli = 1000;
  std::int64_t cpu = 1'000;
  std::int64_t memory = 1;
  std::string spec = {};
  std::string gang = {};
  std::vector<SliceRequest> slices = {};
};

/// Nodes "n0", "n1", ... and pods "p0", "p1", ... in that order.
[[nodiscard]] std::vector<ListedNode> nodes_of(const std::vector<NodeSketch>& sketches);
[[nodiscard]] std::vector<Pod> pods_of(const std::vector<PodSketch>& sketches);
/// Requires: a problem that can be made.
[[nodiscard]] Problem problem_of(const std::vector<NodeSketch>& nodes, const std::vector<PodSketch>& pods,
                                 const ProblemOptions& options = {});

/// Random nodes of three models and pods of every kind; with `has_cuts` two of the models can be partitioned.
[[nodiscard]] Problem random_problem(Rng rng, bool has_cuts);

}  // namespace berth::placement::testing
