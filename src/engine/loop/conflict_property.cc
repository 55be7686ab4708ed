// The search for the smallest conflict against all subsets, on random sets of conflicts.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "engine/loop/conflict.h"

namespace berth {
namespace {

constexpr std::uint64_t kConflictCases = 4000;

TEST(ConflictProperty, IsTheSmallestOfAllSubsets) {
  for (const std::uint64_t seed : testing::case_seeds(kConflictCases)) {
    Rng rng(seed);
    const std::size_t count = 1 + rng.below(9);
    std::vector<std::uint64_t> cores(1 + rng.below(5));
    for (std::uint64_t& core : cores) core = rng.below(std::uint64_t{1} << count) & ~(rng() & rng.split("thin")());
    std::vector<ConstraintId> ids;
    ids.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) ids.push_back(constraint_of({i}, ConstraintKind::kFloor));
    const auto is_met = [&](std::uint64_t subset) {
      return std::ranges::none_of(cores, [&](std::uint64_t core) { return (core & ~subset) == 0; });
    };
    const auto mask_of = [](std::span<const ConstraintId> some) {
      std::uint64_t mask = 0;
      for (const ConstraintId& id : some) mask |= std::uint64_t{1} << id.service->index;
      return mask;
    };
    // Some sets that cannot be met are not decided, always the same ones.
    const std::uint64_t undecided = rng.below(2) == 0 ? 0 : 1 + rng.below(4);
    const auto is_decided = [&](std::uint64_t subset) {
      return undecided == 0 || Rng(subset * 31 + seed).below(5) >= undecided;
    };
    int calls = 0;
    const auto ask = [&](std::span<const ConstraintId> some) {
      ++calls;
      const std::uint64_t subset = mask_of(some);
      if (is_met(subset)) return Finding::kCanBeMet;
      return is_decided(subset) ? Finding::kCannotBeMet : Finding::kNotDecided;
    };
    const int calls_max = rng.below(3) == 0 ? static_cast<int>(1 + rng.below(30)) : 2000;
    const ConflictSearchResult result = find_conflict(ids, ask, {.calls_max = calls_max});
    int smallest = 99;
    for (const std::uint64_t core : cores) smallest = std::min(smallest, std::popcount(core));
    ASSERT_EQ(std::holds_alternative<CanBeMet>(result), is_met((std::uint64_t{1} << count) - 1)) << seed;
    ASSERT_LE(calls, calls_max) << seed;
    const auto* found = std::get_if<Conflict>(&result);
    ASSERT_TRUE(found != nullptr || undecided != 0 || std::holds_alternative<CanBeMet>(result)) << seed;
    if (found == nullptr) continue;
    const std::uint64_t conflict = mask_of(found->constraints);
    ASSERT_FALSE(is_met(conflict)) << seed;
    ASSERT_TRUE(is_decided(conflict)) << seed;
    ASSERT_EQ(found->calls, calls) << seed;
    ASSERT_TRUE(found->is_smallest || calls_max < 2000 || undecided != 0) << seed;
    ASSERT_TRUE(!found->is_smallest || std::popcount(conflict) == smallest) << seed;
    for (std::size_t i = 0; found->is_minimal && i < count; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      ASSERT_TRUE((conflict & bit) == 0 || is_met(conflict & ~bit)) << seed;
    }
  }
}

}  // namespace
}  // namespace berth
