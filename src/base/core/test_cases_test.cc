#include "base/core/test_cases.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace berth::testing {
namespace {

std::vector<std::uint64_t> listed(std::uint64_t count, const std::string& params) {
  std::vector<std::uint64_t> seeds;
  for (const std::uint64_t seed : case_seeds(count, params)) seeds.push_back(seed);
  return seeds;
}

TEST(CaseSeeds, WithoutParametersAndWithSeedOneTheyBeginAtNought) {
  const std::vector<std::uint64_t> wanted = {0, 1, 2, 3};
  for (const char* params :
       {"", "seed=1", "max_size=9 seed=1", "max_success=3", "seed=", "seed=x", "reseed=7", "seed7"}) {
    EXPECT_EQ(listed(4, params), wanted) << params;
  }
}

TEST(CaseSeeds, OtherSeedsGiveOtherCases) {
  std::vector<std::uint64_t> all = listed(1000, "seed=1");
  for (const char* params : {"seed=0", "seed=2", "seed=3", "max_size=9 seed=1790000000", "seed=1790000001"}) {
    const std::vector<std::uint64_t> seeds = listed(1000, params);
    EXPECT_EQ(seeds.size(), 1000U);
    EXPECT_EQ(seeds, listed(1000, params));
    all.insert(all.end(), seeds.begin(), seeds.end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "two runs share a case";
}

TEST(CaseSeeds, MoreSuccessesAreMoreCases) {
  EXPECT_EQ(listed(4, "seed=1 max_success=6"), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(listed(4, "seed=18446744073709551615 max_success=20000").size(), 20000U);
}

TEST(ByBuild, SlowBuildsTakeTheSecond) { EXPECT_EQ(by_build(400, 50), kIsSlowBuild ? 50 : 400); }

}  // namespace
}  // namespace berth::testing
