#include "scheduling/placement/testing/small_lists.h"

#include <fmt/format.h>

#include "base/core/ensure.h"

namespace berth::placement::testing {

std::vector<ListedNode> nodes_of(const std::vector<NodeSketch>& sketches) {
  std::vector<ListedNode> nodes;
  nodes.reserve(sketches.size());
  for (const NodeSketch& sketch : sketches) {
    nodes.push_back({.name = fmt::format("n{}", nodes.size()),
                     .cpu_milli = sketch.cpu_per_gpu * sketch.gpus,
                     .memory_mib = 1'000'000,
                     .gpu_count = sketch.gpus,
                     .gpu_model = sketch.model});
  }
  return nodes;
}

std::vector<Pod> pods_of(const std::vector<PodSketch>& sketches) {
  std::vector<Pod> pods;
  pods.reserve(sketches.size());
  for (const PodSketch& sketch : sketches) {
    pods.push_back(
        {.name = fmt::format("p{}", pods.size()),
         .cpu_milli = sketch.cpu,
         .memory_mib = sketch.memory,
         .gpu_count = sketch.gpus,
         .gpu_milli = sketch.gpus == 0 ? 0 : sketch.milli,
         .gpu_models = sketch.spec.empty() ? std::vector<std::string>() : std::vector<std::string>{sketch.spec},
         .gang = sketch.gang,
         .gpu_spec = sketch.spec,
         .slices = sketch.slices});
  }
  return pods;
}

Problem problem_of(const std::vector<NodeSketch>& nodes, const std::vector<PodSketch>& pods,
                   const ProblemOptions& options) {
  auto problem = make_problem(nodes_of(nodes), pods_of(pods), options);
  ENSURE(problem.has_value());
  return std::move(*problem);
}

Problem random_problem(Rng rng, bool has_cuts) {
  const std::vector<std::string> models =
      has_cuts ? std::vector<std::string>{"A100-80GB", "A30-24GB", "T4"} : std::vector<std::string>{"G2", "P100", "T4"};
  std::vector<NodeSketch> nodes(3 + rng.below(6));
  for (NodeSketch& node : nodes) {
    node = {.model = models[rng.below(models.size())],
            .gpus = 1 + static_cast<int>(rng.below(8)),
            .cpu_per_gpu = 2'000 * (1 + static_cast<std::int64_t>(rng.below(6)))};
  }
  const std::vector<std::vector<SliceRequest>> profiles = {
      {{1, "3g.40gb"}}, {{2, "1g.10gb"}, {1, "2g.20gb"}}, {{1, "2g.12gb"}, {1, "1g.10gb"}}, {{1, "7g.80gb"}}};
  std::vector<PodSketch> pods;
  for (std::uint64_t i = 0; i < 20 + rng.below(40); ++i) {
    PodSketch pod{.cpu = 500 * static_cast<std::int64_t>(rng.below(12))};
    switch (rng.below(has_cuts ? 6 : 4)) {
      case 0:
        pod.gpus = 0;
        break;
      case 1:
        pod.gpus = 1 << rng.below(4);
        break;
      case 2:
      case 3:
        pod.milli = 50 * (1 + static_cast<int>(rng.below(19)));
        break;
      default:
        pod.slices = profiles[rng.below(profiles.size())];
        pod.milli = 0;
    }
    if (rng.below(4) == 0) pod.spec = models[rng.below(models.size())];
    if (rng.below(8) == 0) pod.gang = fmt::format("g{}", rng.below(3));
    pods.push_back(std::move(pod));
  }
  return problem_of(nodes, pods);
}

}  // namespace berth::placement::testing
