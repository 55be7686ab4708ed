#include "planner/goodput_bound/detail/crowds.h"

#include <gtest/gtest.h>

#include "base/core/test_cases.h"
#include "planner/goodput_bound/testing/cases.h"

namespace berth::bound::detail {
namespace {

/// Counts requests one by one, with the lengths of the bins as crowds.h describes them.
struct Recount {
  Blocks blocks;
  std::int64_t target_us = 0;
  std::int64_t bin_us = 0;
  std::vector<std::int64_t> at_us;

  /// Requests that arrived from `from_us` to `until_us`, both included.
  [[nodiscard]] std::int64_t between(std::int64_t from_us, std::int64_t until_us) const {
    return std::ranges::count_if(at_us, [&](std::int64_t at) { return at >= from_us && at <= until_us; });
  }

  /// The work of a batch taken at an instant lies within `target` after it.
  [[nodiscard]] bool may_work_in(int block, std::int64_t from_us, std::int64_t until_us) const {
    return blocks.of(from_us) <= block && block <= blocks.of(until_us + target_us);
  }

  /// Over windows of steps + 1 whole bins.
  [[nodiscard]] std::int64_t most_in_bins(int steps, int block) const {
    std::int64_t most = 0;
    for (std::int64_t begin = 0; begin < blocks.end_us; begin += bin_us) {
      if (!may_work_in(block, begin, begin + bin_us)) continue;
      most = std::max(most, between(begin - steps * bin_us, begin + bin_us - 1));
    }
    return most;
  }
};

struct CrowdsCase {
  Recount recount;
  Crowds crowds;
};

CrowdsCase draw_crowds_case(std::uint64_t seed) {
  Rng rng(seed);
  const Blocks blocks = testing::draw_blocks(rng, 3);
  const std::int64_t target_us = testing::drawn(rng, 1, 6) * testing::kGridMicros + testing::drawn(rng, -1, 2);
  const int bins_max = static_cast<int>(testing::drawn(rng, 1, 12));
  const std::vector<std::int64_t> at_us = testing::draw_requests(rng, blocks, 30);
  const auto offsets = [&](std::int64_t second, std::vector<std::uint32_t>& out) {
    testing::offsets_in(at_us, second, out);
  };
  return {.recount = {.blocks = blocks,
                      .target_us = target_us,
                      .bin_us = (target_us + bins_max - 1) / bins_max,
                      .at_us = at_us},
          .crowds = Crowds(blocks, blocks.end_us / kMicrosPerSecond, target_us, bins_max, offsets)};
}

TEST(Crowds, AreTheMostRequestsInWholeBins) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(150, 30))) {
    const auto [recount, crowds] = draw_crowds_case(seed);
    ASSERT_EQ(crowds.steps_max(), (recount.target_us + recount.bin_us - 1) / recount.bin_us) << "seed " << seed;
    for (int steps = 0; steps <= crowds.steps_max(); ++steps) {
      for (int block = 0; block < recount.blocks.count(); ++block) {
        ASSERT_EQ(crowds.most(steps, block), recount.most_in_bins(steps, block))
            << "seed " << seed << ", steps " << steps << ", block " << block;
      }
    }
  }
}

TEST(Crowds, NeverMissARequestOfAWindow) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 40))) {
    const auto [recount, crowds] = draw_crowds_case(seed);
    Rng rng = Rng(seed).split("windows");
    for (int i = 0; i < 60; ++i) {
      // Both ends of a window often coincide with a request: one more or less matters there.
      const std::int64_t window_us =
          testing::happens(rng, 20) ? recount.target_us : testing::drawn(rng, 0, recount.target_us + 1);
      std::int64_t taken_us = testing::drawn(rng, 0, recount.blocks.end_us);
      if (!recount.at_us.empty() && testing::happens(rng, 80)) {
        taken_us = recount.at_us[rng.below(recount.at_us.size())] + (testing::happens(rng, 50) ? window_us : 0);
      }
      if (taken_us >= recount.blocks.end_us) continue;
      const std::int64_t count = recount.between(taken_us - window_us, taken_us);
      for (int block = 0; block < recount.blocks.count(); ++block) {
        if (!recount.may_work_in(block, taken_us, taken_us)) continue;
        ASSERT_GE(crowds.most(crowds.steps_of(window_us), block), count)
            << "seed " << seed << ": " << window_us << " us until " << taken_us << ", block " << block;
      }
    }
  }
}

TEST(Crowds, KnowNothingUnlessTheyAreCounted) {
  EXPECT_FALSE(Crowds().is_known());
  EXPECT_TRUE(draw_crowds_case(1).crowds.is_known());
}

TEST(Crowds, HaveNoBinBelowAMillisecond) {
  const auto none = [](std::int64_t, std::vector<std::uint32_t>&) {};
  const Crowds crowds({.end_us = kMicrosPerSecond, .block_us = kMicrosPerSecond}, 1, 5000, 32, none);
  EXPECT_EQ(crowds.steps_max(), 5);
  EXPECT_EQ(crowds.steps_of(1), 1);
  EXPECT_EQ(crowds.steps_of(1000), 1);
  EXPECT_EQ(crowds.steps_of(1001), 2);
}

}  // namespace
}  // namespace berth::bound::detail
