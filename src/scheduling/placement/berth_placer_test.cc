#include "scheduling/placement/berth_placer.h"

#include <gtest/gtest.h>

#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

using testing::PodSketch;
using testing::problem_of;

/// A cluster with its placer, in the order of the list.
class Placing {
 public:
  explicit Placing(const Problem& problem) : cluster_(problem, order_of(problem)), placer_(cluster_) {}

  /// Places the pod of a row; nothing if it fits nowhere.
  std::optional<Spot> place(int row) {
    const Problem& problem = cluster_.problem();
    const auto spot = placer_.choose(problem.shape_of_pod[static_cast<std::size_t>(row)]);
    if (spot) {
      cluster_.place(*spot, problem.shape_of(row));
      placer_.touch(spot->node);
    }
    return spot;
  }

 private:
  static std::vector<NodeIndex> order_of(const Problem& problem) {
    std::vector<NodeIndex> order;
    order.reserve(problem.nodes.size());
    for (const NodeIndex node : indices_of<NodeIndex>(problem.nodes)) order.push_back(node);
    return order;
  }

  Cluster cluster_;
  BerthPlacer placer_;
};

TEST(BerthPlacer, SharesJoinThoseThatTheyFillAGpuWith) {
  const Problem problem =
      problem_of({{.gpus = 4}}, {{.milli = 300}, {.milli = 700}, {.milli = 700}, {.milli = 300}, {}, {}});
  Placing placing(problem);
  EXPECT_EQ(placing.place(0)->gpus, 1);
  EXPECT_EQ(placing.place(1)->gpus, 1);
  EXPECT_EQ(placing.place(2)->gpus, 2);
  EXPECT_EQ(placing.place(3)->gpus, 2);
}

TEST(BerthPlacer, CpuIsKeptBesideGpus) {
  // A pod without GPUs goes where no remaining GPU would need the CPU.
  const Problem problem = problem_of({{.gpus = 1, .cpu_per_gpu = 4'000}, {.gpus = 1, .cpu_per_gpu = 4'000}},
                                     {{.cpu = 2'000}, {.gpus = 0, .cpu = 2'000}, {.cpu = 4'000}});
  Placing placing(problem);
  const NodeIndex first = placing.place(0)->node;
  EXPECT_EQ(placing.place(1)->node, first);
  EXPECT_TRUE(placing.place(2).has_value());
}

TEST(BerthPlacer, WholeNodesAreKeptForThoseWhoNeedThem) {
  std::vector<PodSketch> pods(4, {.gpus = 1});
  pods.push_back({.gpus = 4});
  const Problem problem = problem_of({{.gpus = 4}, {.gpus = 4}}, pods);
  Placing placing(problem);
  for (int row = 0; row < 4; ++row) EXPECT_EQ(placing.place(row)->node, NodeIndex(0));
  EXPECT_TRUE(placing.place(4).has_value());
}

TEST(BerthPlacer, SlicesLieWhereTheyLeaveRoomForLargerOnes) {
  // 1g.10gb at the start that blocks least: after the last 2g, where it blocks no 3g that would still fit.
  const std::vector<SliceRequest> small = {{.count = 1, .profile = "1g.10gb"}};
  const std::vector<SliceRequest> large = {{.count = 1, .profile = "3g.40gb"}};
  const Problem problem =
      problem_of({{.model = "A100-80GB", .gpus = 1}},
                 {{.milli = 125, .slices = small}, {.milli = 500, .slices = large}, {.milli = 125, .slices = small}});
  Placing placing(problem);
  ASSERT_TRUE(placing.place(0).has_value());
  ASSERT_TRUE(placing.place(2).has_value());
  EXPECT_TRUE(placing.place(1).has_value()) << "a 3g still fits beside two 1g";
}

TEST(Potential, IsTheSameForAllOrdersOfGpusAndFallsWithEveryPod) {
  const Problem problem = problem_of({{.gpus = 4}}, {{.milli = 300}, {.milli = 500}, {}, {.gpus = 2}});
  GpuOutlooks outlooks(problem);
  Potential potential(problem, outlooks);
  PotentialKey full{.cpu_free = 32'000, .memory_free = 1'000, .gpu_count = 4};
  full.gpus.fill(outlooks.state_with_free(kGpuMilli));
  potential.weigh({full}, problem.capacity_milli(), 0);
  PotentialKey one = full;
  one.exchange(outlooks.state_with_free(kGpuMilli), outlooks.state_with_free(500));
  PotentialKey two = one;
  two.exchange(outlooks.state_with_free(kGpuMilli), outlooks.state_with_free(700));
  PotentialKey other = full;
  other.exchange(outlooks.state_with_free(kGpuMilli), outlooks.state_with_free(700));
  other.exchange(outlooks.state_with_free(kGpuMilli), outlooks.state_with_free(500));
  EXPECT_EQ(two, other);
  EXPECT_GT(potential.of(full), potential.of(one));
  EXPECT_GT(potential.of(one), potential.of(two));
  EXPECT_EQ(potential.of(two), potential.of(other));
}

TEST(Potential, APodThatAsksForNoMemoryFitsWhereNoneIsFree) {
  const Problem problem =
      problem_of({{.gpus = 2}}, {{.milli = 300, .memory = 0}, {.milli = 500, .memory = 0}, {.gpus = 2, .memory = 0}});
  ASSERT_EQ(problem.shapes.front().memory_mib, 0);
  GpuOutlooks outlooks(problem);
  Potential potential(problem, outlooks);
  PotentialKey none{.cpu_free = 16'000, .memory_free = 0, .gpu_count = 2};
  none.gpus.fill(outlooks.state_with_free(kGpuMilli));
  PotentialKey much = none;
  much.memory_free = 1'000;
  potential.weigh({none, much}, 2 * problem.capacity_milli(), 0);
  EXPECT_EQ(potential.of(none), potential.of(much));
}

}  // namespace
}  // namespace berth::placement
