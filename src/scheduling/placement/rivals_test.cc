// Scores computed by hand from the rules of docs/reference/scheduling.md.
#include "scheduling/placement/rivals.h"

#include <gtest/gtest.h>

#include "scheduling/placement/fragmentation.h"
#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

using testing::problem_of;

/// One node of 8 GPUs with 96 cores, pods placed on its first GPUs.
class RivalScores : public ::testing::Test {
 protected:
  RivalScores()
      : problem_(problem_of({{.model = "V100", .gpus = 8, .cpu_per_gpu = 12'000}}, {{.milli = 460, .cpu = 6'000},
                                                                                    {.gpus = 2, .cpu = 8'000},
                                                                                    {.gpus = 0, .cpu = 4'000},
                                                                                    {.milli = 250, .cpu = 1'000}})),
        cluster_(problem_, {NodeIndex(0)}) {}

  [[nodiscard]] const Shape& shape(int row) const { return problem_.shape_of(row); }
  [[nodiscard]] const NodeState& state() const { return cluster_.state(NodeIndex(0)); }
  void place(int row) { cluster_.place({.node = NodeIndex(0), .gpus = usual_gpus(state(), shape(row))}, shape(row)); }

  Problem problem_;
  Cluster cluster_;
};

TEST_F(RivalScores, DotProductPrefersNodesWithLittleOfWhatThePodWants) {
  // (32768000000 - 96000 x 6000 - 256 x 8000 x 460) / 327680000 = 95.37 ...
  EXPECT_EQ(dot_product_score(state(), shape(0)), 95);
  // (32768000000 - 96000 x 8000 - 256 x 8000 x 2000) / 327680000 = 85.15 ...
  EXPECT_EQ(dot_product_score(state(), shape(1)), 85);
}

TEST_F(RivalScores, BestFitCountsWhatIsLeftBehind) {
  // (256000 - 90000 - 16 x 7540) / 2560 = 17.7 ...
  EXPECT_EQ(best_fit_score(state(), shape(0)), 17);
  // Below zero the quotient is rounded down: (256000 - 92000 - 16 x 8000) / 2560 = 14.06, of a larger node -0.4 is -1.
  EXPECT_EQ(best_fit_score(state(), shape(2)), 14);
  NodeState large = state();
  large.cpu_free = 132'999;
  EXPECT_EQ(best_fit_score(large, shape(2)), -1);
}

TEST_F(RivalScores, PackingPrefersGpusInUseThenNodesInUse) {
  EXPECT_EQ(packing_score(state(), shape(2)), 0);
  EXPECT_EQ(packing_score(state(), shape(0)), 25) << "an empty node: 33 - 8";
  place(0);
  EXPECT_EQ(packing_score(state(), shape(3)), 95) << "GPU 0 has 540 free: 100 - 54 / 10";
  EXPECT_EQ(packing_score(state(), shape(1)), 48) << "two free GPUs: 50 - 2";
}

TEST_F(RivalScores, ClusteringSortsNodesIntoFourBands) {
  EXPECT_EQ(clustering_score(state(), cluster_.pods_by_gpus(NodeIndex(0)), shape(0)), 25) << "no GPU pod: 0 + 25";
  place(2);
  EXPECT_EQ(clustering_score(state(), cluster_.pods_by_gpus(NodeIndex(0)), shape(0)), 25)
      << "CPU-only pods do not count";
  place(0);
  EXPECT_EQ(clustering_score(state(), cluster_.pods_by_gpus(NodeIndex(0)), shape(3)), 76)
      << "25 x 460 / 8000 = 1, + 75";
  EXPECT_EQ(clustering_score(state(), cluster_.pods_by_gpus(NodeIndex(0)), shape(1)), 1) << "others only";
  place(1);
  EXPECT_EQ(clustering_score(state(), cluster_.pods_by_gpus(NodeIndex(0)), shape(1)), 57)
      << "25 x 2460 / 8000 = 7, + 50";
}

TEST(FragmentationOfANode, CountsWhatTypicalPodsCannotUse) {
  // Four rows: 460 milli with 6 cores twice, a whole GPU with 1 core, CPU only.
  const Problem problem = problem_of(
      {{.gpus = 2, .cpu_per_gpu = 3'000}},
      {{.milli = 460, .cpu = 6'000}, {.milli = 460, .cpu = 6'000}, {.cpu = 1'000}, {.gpus = 0, .cpu = 1'000}});
  Cluster cluster(problem, {NodeIndex(0)});
  Fragmentation fragmentation(problem);
  EXPECT_EQ(fragmentation.rows(), 4);
  EXPECT_EQ(fragmentation.of(cluster.state(NodeIndex(0))), 2000) << "all of it for the CPU-only pod alone";
  cluster.place({.node = NodeIndex(0), .gpus = 1}, problem.shape_of(2));
  // 1000 milli and 5 cores are left: too little CPU for the 460s, none is a fragment for the whole GPU.
  EXPECT_EQ(fragmentation.of(cluster.state(NodeIndex(0))), 2 * 1000 + 0 + 1000);
}

TEST(FragmentationOfANode, TypicalPodsAreTheMostFrequentNinetyFivePercent) {
  std::vector<testing::PodSketch> pods(95, {.milli = 300});
  pods.insert(pods.end(), 3, {.milli = 200});
  pods.insert(pods.end(), 2, {.milli = 100});
  EXPECT_EQ(problem_of({{}}, pods).typical.size(), 1U) << "95 of 100 rows are enough";
  pods.push_back({.milli = 100});
  const Problem problem = problem_of({{}}, pods);
  ASSERT_EQ(problem.typical.size(), 2U) << "95 of 101 are not";
  EXPECT_EQ(problem.typical[1].gpu_milli, 100) << "of two groups of three rows the smaller share comes first";
}

TEST(Fgd, TakesTheGpuThatLeavesTheLeastFragments) {
  // Typical: 500 twice as often as whole GPUs. A 500 goes onto the GPU that already has one.
  const Problem problem = problem_of({{.gpus = 2}}, {{.milli = 500}, {.milli = 500}, {}});
  Cluster cluster(problem, {NodeIndex(0)});
  FgdScores scores(cluster);
  EXPECT_EQ(scores.choice(NodeIndex(0), problem.shape_of(0)).gpus, 1);
  cluster.place({.node = NodeIndex(0), .gpus = 2}, problem.shape_of(0));
  scores.touch(NodeIndex(0));
  const FgdScores::Choice choice = scores.choice(NodeIndex(0), problem.shape_of(0));
  EXPECT_EQ(choice.gpus, 2);
  // Before: 500 for the whole GPU; after: nothing. 100 / (1 + exp(-500 / 3000)) = 54.1 ...
  EXPECT_EQ(choice.score, 54);
}

}  // namespace
}  // namespace berth::placement
