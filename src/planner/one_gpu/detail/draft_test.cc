#include "planner/one_gpu/detail/draft.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::planner {
namespace {

std::vector<Share> share_of_bundle(int bundle) { return {{.bundle = BundleIndex(bundle)}}; }

std::vector<double> draft_losses(Draft& draft) {
  std::vector<double> losses;
  for (const Deal& deal : draft.take()) losses.push_back(deal.loss);
  return losses;
}

TEST(Draft, KeepsTheLeastLossesAndKnowsThatItLeftOthersOut) {
  Draft draft(10, 3);
  for (const int loss : {5, 1, 9}) draft.add(loss, share_of_bundle(loss));
  EXPECT_FALSE(draft.is_cut());
  EXPECT_EQ(draft.slack(), 10);
  draft.add(3, share_of_bundle(3));
  EXPECT_TRUE(draft.is_cut());
  EXPECT_EQ(draft.slack(), 9) << "what loses as much was left out";
  draft.add(2, share_of_bundle(2));
  EXPECT_EQ(draft.slack(), 5);
  EXPECT_EQ(draft_losses(draft), (std::vector<double>{1, 2, 3}));
}

TEST(Draft, KeepsTheSharesOfADeal) {
  Draft draft(10, 2);
  draft.add(4, share_of_bundle(7));
  draft.add(1, share_of_bundle(8));
  const std::vector<Deal> deals = draft.take();
  ASSERT_EQ(deals.size(), 2U);
  EXPECT_EQ(deals[0].shares, share_of_bundle(8));
  EXPECT_EQ(deals[1].shares, share_of_bundle(7));
  EXPECT_TRUE(draft.take().empty());
}

TEST(Draft, LeavesEverythingOutOnceItIsStopped) {
  Draft draft(10, 3);
  draft.add(4, share_of_bundle(1));
  draft.stop();
  EXPECT_TRUE(draft.is_cut());
  EXPECT_EQ(draft.slack(), 0);
  EXPECT_EQ(draft_losses(draft), std::vector<double>{4});
}

TEST(DraftDeathTest, TakesNothingThatLosesTooMuch) {
  Draft draft(10, 3);
  EXPECT_DEATH(draft.add(10, share_of_bundle(1)), "slack_");
}

}  // namespace
}  // namespace berth::planner
