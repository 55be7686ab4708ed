#include "planner/goodput_bound/detail/blocks.h"

#include <gtest/gtest.h>

#include "base/core/test_cases.h"
#include "planner/goodput_bound/testing/cases.h"

namespace berth::bound::detail {
namespace {

TEST(Blocks, TheLastOneMayBeShorter) {
  const Blocks blocks{.end_us = 2'500'000, .block_us = 1'000'000};
  EXPECT_EQ(blocks.count(), 3);
  EXPECT_EQ(blocks.begin_us(2), 2'000'000);
  EXPECT_EQ(blocks.end_of_us(1), 2'000'000);
  EXPECT_EQ(blocks.end_of_us(2), 2'500'000);
  EXPECT_DOUBLE_EQ(blocks.length(1), 1);
  EXPECT_DOUBLE_EQ(blocks.length(2), 0.5);
  EXPECT_EQ(blocks.of(1'999'999), 1);
  EXPECT_EQ(blocks.of(2'000'000), 2);
  EXPECT_EQ(blocks.of(2'500'000), 2);
  EXPECT_EQ(blocks.of(9'000'000), 2);
}

TEST(Blocks, CoverTheRunWithoutGapsOrOverlaps) {
  for (const std::uint64_t seed : berth::testing::case_seeds(200)) {
    Rng rng(seed);
    const Blocks blocks{.end_us = testing::drawn(rng, 1, 60), .block_us = testing::drawn(rng, 1, 70)};
    for (std::int64_t at = 0; at < blocks.end_us; ++at) {
      const int block = blocks.of(at);
      ASSERT_GE(block, 0) << "seed " << seed;
      ASSERT_LT(block, blocks.count()) << "seed " << seed;
      ASSERT_LE(blocks.begin_us(block), at) << "seed " << seed;
      ASSERT_GT(blocks.end_of_us(block), at) << "seed " << seed;
    }
    double seconds = 0;
    for (int block = 0; block < blocks.count(); ++block) {
      ASSERT_GT(blocks.length(block), 0) << "seed " << seed;
      seconds += blocks.length(block);
    }
    EXPECT_NEAR(seconds * 1e6, static_cast<double>(blocks.end_us), 1e-6) << "seed " << seed;
    EXPECT_EQ(blocks.of(blocks.end_us), blocks.count() - 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::bound::detail
