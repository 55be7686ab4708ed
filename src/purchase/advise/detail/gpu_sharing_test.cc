#include "purchase/advise/detail/gpu_sharing.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::purchase::advise {
namespace {

TEST(GpuSharing, FirstFitDecreasingComesFirst) {
  EXPECT_EQ(share_gpus(std::vector{300, 700, 300}, 2, kSharingNodes).gpus, (std::vector{0, 0, 1}));
  EXPECT_EQ(share_gpus(std::vector<int>(), 0, kSharingNodes).gpus, std::vector<int>());
  EXPECT_EQ(share_gpus(std::vector{1}, 0, kSharingNodes).gpus, std::nullopt);
}

TEST(GpuSharing, TheSearchFindsWhatFirstFitDecreasingMisses) {
  // First fit decreasing puts 440 and 440 together, and then needs a third GPU: 440 + 300 + 260, 440 + 280 + 280 fit
  // two.
  const std::vector<int> sizes = {440, 440, 300, 280, 280, 260};
  const auto gpus = share_gpus(sizes, 2, kSharingNodes).gpus;
  ASSERT_TRUE(gpus.has_value());
  std::vector<int> used(2);
  for (std::size_t i = 0; i < sizes.size(); ++i) used[static_cast<std::size_t>((*gpus)[i])] += sizes[i];
  EXPECT_EQ(used, (std::vector{1000, 1000}));
}

TEST(GpuSharing, ASearchThatEndsAtItsLimitProvesNothing) {
  const std::vector<int> sizes = {440, 440, 300, 280, 280, 260};
  EXPECT_FALSE(share_gpus(sizes, 2, 3).is_proven);
  EXPECT_TRUE(share_gpus(std::vector{600, 600, 600}, 2, kSharingNodes).is_proven);
}

TEST(GpuSharing, SetsKnowHowManyGpusTheyTake) {
  ShareSets sets;
  const int three = sets.with(0, 600, 3);
  EXPECT_EQ(sets.gpus_min(three), 3);
  EXPECT_EQ(sets.gpus_min(sets.with(three, 400, 2)), 3);
  EXPECT_EQ(sets.gpus_min(0), 0);
  EXPECT_EQ(sets.with(sets.with(0, 400, 1), 600, 1), sets.with(sets.with(0, 600, 1), 400, 1));
}

TEST(GpuSharing, ASetIsNoHarderIfItsSharesAreSmaller) {
  ShareSets sets;
  const int small = sets.with(sets.with(0, 300, 1), 500, 1);
  const int large = sets.with(sets.with(0, 600, 1), 400, 2);
  EXPECT_TRUE(sets.is_no_harder(small, large));
  EXPECT_FALSE(sets.is_no_harder(large, small));
  EXPECT_TRUE(sets.is_no_harder(0, small));
}

}  // namespace
}  // namespace berth::purchase::advise
