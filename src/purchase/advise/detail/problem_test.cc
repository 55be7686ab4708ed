#include "purchase/advise/detail/problem.h"

#include <gtest/gtest.h>

#include <vector>

#include "purchase/advise/testing/cases.h"

namespace berth::purchase::advise {
namespace {

using reference::gpu_offer;
using reference::pod;
using reference::shared_pod;

TEST(AdviseProblem, EqualPodsAreOneClass) {
  Pod upper = pod("a", 1, 1, 1);
  upper.gpu_models = {"T4", "L4"};
  Pod lower = pod("b", 1, 1, 1);
  lower.gpu_models = {"l4", "t4", "T4"};
  const std::vector<Pod> pods = {upper, pod("c", 1, 1, 1), lower};
  const Problem problem = make_problem(pods, std::vector{gpu_offer("one", "t4", 1, 5)});
  ASSERT_EQ(problem.classes.size(), 2U);
  EXPECT_EQ(problem.classes[0].rows, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(problem.class_of, (std::vector<std::size_t>{0, 1, 0}));
}

TEST(AdviseProblem, SharesAreRoundedUpAsFarAsNoPackingNotices) {
  // Only 200 fits with 700, so 700 may as well be 800. Sums of 400 and 200 reach 1000.
  const std::vector<Pod> pods = {shared_pod("a", 700), shared_pod("b", 400), shared_pod("c", 200)};
  const Problem problem = make_problem(pods, std::vector{gpu_offer("one", "t4", 2, 5)});
  EXPECT_EQ(problem.classes[0].weights[kGpuThousandths], 800);
  EXPECT_EQ(problem.classes[1].weights[kGpuThousandths], 400);
  EXPECT_EQ(problem.classes[2].weights[kGpuThousandths], 200);
  EXPECT_EQ(problem.classes[0].weights[kGpuHalves], 2);  // more than half a GPU: as good as all of it
  EXPECT_EQ(problem.classes[1].weights[kGpuSixths], 3);  // more than a third: two on a GPU at most
  EXPECT_EQ(problem.boxes[0].capacity[kGpuSixths], 12);
}

TEST(AdviseProblem, OffersThatOthersReplaceAreNoChoices) {
  const std::vector<pricing::Offer> offers = {gpu_offer("two", "t4", 2, 100), gpu_offer("one", "t4", 1, 100),
                                              gpu_offer("same", "t4", 2, 100), gpu_offer("small", "t4", 1, 60),
                                              gpu_offer("other", "l4", 1, 90)};
  Pod picky = pod("a", 1, 1, 1);
  picky.gpu_models = {"l4"};
  EXPECT_EQ(make_problem(std::vector{picky}, offers).choices, (std::vector<std::size_t>{3, 4, 0}));
  // Where the model does not matter, nothing needs the l4.
  EXPECT_EQ(make_problem(std::vector{pod("a", 1, 1, 1)}, offers).choices, (std::vector<std::size_t>{3, 0}));
}

TEST(AdviseProblem, LoadsPackSharesByFirstFit) {
  Load load;
  for (const int milli : {600, 500, 400, 300}) load.add({.share_milli = milli});
  load.add({.whole_gpus = 2});
  EXPECT_EQ(load.used_milli, (std::vector{1000, 800}));
  EXPECT_EQ(load.gpus_used(), 4);
}

}  // namespace
}  // namespace berth::purchase::advise
