#include "planner/transition/detail/improve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/transition/detail/test_cases.h"

namespace berth::transition::detail {
namespace {

constexpr std::uint64_t kImproveCases = berth::testing::by_build(250, 40);

Improved improved(const TransitionCase& drawn, const TransitionView& view, std::int64_t nodes_max) {
  return fewest_changes_plan(view, drawn.problem, drawn.fewest.packing, first_fit, nodes_max);
}

TEST(Improve, FindsTheFewestChangesAndProvesThem) {
  int judged = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kImproveCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto fewest = EveryPlan(view).fewest();
    if (!fewest) continue;
    ++judged;
    const Improved best = improved(drawn, view, 2'000'000);
    ASSERT_EQ(find_plan_fault(view, best.plan), std::nullopt);
    ASSERT_EQ(changes_of(view, best.plan), *fewest);
    ASSERT_EQ(best.bound, *fewest);
  }
  EXPECT_GT(judged * 10, static_cast<int>(kImproveCases) * 7);
}

TEST(Improve, IsLegalAndNoWorseThanTheFallbackWithAnyBudget) {
  for (const auto& [seed, drawn, view] : drawn_cases(kImproveCases)) {
    GpuRoom room(view);
    const auto fallback = Starter(view, drawn.problem, drawn.fewest.packing, room).keep_gpus(0, false, first_fit);
    const auto fewest = EveryPlan(view).fewest();
    for (const std::int64_t nodes_max : {0, 1, 10, 100, 2'000}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(nodes_max) + " nodes");
      const Improved best = improved(drawn, view, nodes_max);
      ASSERT_EQ(find_plan_fault(view, best.plan), std::nullopt);
      ASSERT_LE(changes_of(view, best.plan), changes_of(view, *fallback));
      ASSERT_LE(best.bound, fewest.value_or(changes_of(view, best.plan)));
      ASSERT_GE(best.nodes, 0);
      ASSERT_LE(best.nodes, nodes_max);
    }
  }
}

TEST(Improve, GivesTheSameAnswerTwice) {
  for (const auto& [seed, drawn, view] : drawn_cases(kImproveCases / 5)) {
    const Improved first = improved(drawn, view, 500);
    const Improved second = improved(drawn, view, 500);
    ASSERT_EQ(first.plan, second.plan) << "seed " << seed;
    ASSERT_EQ(first.bound, second.bound) << "seed " << seed;
    ASSERT_EQ(first.nodes, second.nodes) << "seed " << seed;
  }
}

// With no nodes there are only the starting plans; the exact search is too large for a few thousand.
TEST(Improve, TheSearchOfAFewGpusAtATimeFindsBetterPlans) {
  int judged = 0;
  int better = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(60, 40))) {
    const auto drawn = TransitionGenerator(seed, {.demands_max = 10, .gpus_max = 24}).draw();
    if (!drawn) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TransitionView view = *view_of(drawn->problem, drawn->standing, drawn->fewest);
    const Improved start = improved(*drawn, view, 0);
    const Improved best = improved(*drawn, view, 20'000);
    ++judged;
    ASSERT_EQ(find_plan_fault(view, best.plan), std::nullopt);
    ASSERT_LE(changes_of(view, best.plan), changes_of(view, start.plan));
    ASSERT_GE(best.bound, start.bound);
    ASSERT_LE(best.bound, changes_of(view, best.plan));
    if (changes_of(view, best.plan) < changes_of(view, start.plan)) ++better;
  }
  EXPECT_GT(better * 8, judged * 3);
}

}  // namespace
}  // namespace berth::transition::detail
