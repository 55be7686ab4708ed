// The search for the smallest conflict against all subsets, on random sets of conflicts.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/rng.h"
#include "base/test_cases.h"
#include "engine/conflict.h"

namespace berth {
namespace {

constexpr std::uint64_t kCases = 4000;

TEST(ConflictProperty, IsTheSmallestOfAllSubsets) {
  for (const std::uint64_t seed : testing::case_seeds(kCases)) {
    Rng rng(seed);
    const std::size_t count = 1 + rng.below(9);
    std::vector<std::uint64_t> cores(1 + rng.below(5));
    for (std::uint64_t& core : cores) core = rng.below(std::uint64_t{1} << count) & ~(rng() & rng.split("thin")());
    std::vector<std::string> names;
    names.reserve(count);
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    const auto is_met = [&](std::uint64_t subset) {
      return std::ranges::none_of(cores, [&](std::uint64_t core) { return (core & ~subset) == 0; });
    };
    const auto mask_of = [](std::span<const std::string> some) {
      std::uint64_t mask = 0;
      for (const std::string& name : some) mask |= std::uint64_t{1} << std::stoull(name);
      return mask;
    };
    int calls = 0;
    const auto ask = [&](std::span<const std::string> some) {
      ++calls;
      return is_met(mask_of(some));
    };
    const int calls_max = rng.below(3) == 0 ? static_cast<int>(1 + rng.below(30)) : 2000;
    const auto found = find_conflict(names, ask, {.calls_max = calls_max});
    int smallest = 99;
    for (const std::uint64_t core : cores) smallest = std::min(smallest, std::popcount(core));
    ASSERT_EQ(found.has_value(), !is_met((std::uint64_t{1} << count) - 1)) << seed;
    ASSERT_LE(calls, calls_max) << seed;
    if (!found) continue;
    const std::uint64_t conflict = mask_of(found->names);
    ASSERT_FALSE(is_met(conflict)) << seed;
    ASSERT_EQ(found->calls, calls) << seed;
    ASSERT_TRUE(found->is_smallest || calls_max < 2000) << seed;
    ASSERT_TRUE(!found->is_smallest || std::popcount(conflict) == smallest) << seed;
    for (std::size_t i = 0; found->is_minimal && i < count; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      ASSERT_TRUE((conflict & bit) == 0 || is_met(conflict & ~bit)) << seed;
    }
  }
}

}  // namespace
}  // namespace berth
