#include "sim/measure/decision_log.h"

#include <gtest/gtest.h>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::slice_at;

Action because(Action action, const std::string& text) {
  action.reason = {.text = text, .numbers = {{"gain", 1.5}}};
  return action;
}

Plan plan_of(std::vector<Action> actions) {
  Plan plan;
  plan.actions = std::move(actions);
  return plan;
}

Insight moved(DecisionLog& log) {
  Insight insight;
  log.move_into(insight);
  return insight;
}

TEST(DecisionLog, APlanIsOneDecisionForEachGpuAndReason) {
  const Slice here = slice_at(0, "1g.10gb", 0);
  const Slice there = slice_at(1, "2g.20gb", 0);
  DecisionLog log;
  log.add(plan_of({because(destroy(here), "a"), because(create(there), "a"), because(create(here), "a"),
                   because(assign(holding_of(here, {0})), "b"), because(assign(holding_of(there, {1})), "a")}),
          Instant::at_second(7));
  log.add(plan_of({because(destroy(here), "a")}), Instant::at_second(8));
  const Insight insight = moved(log);
  ASSERT_EQ(insight.decisions.size(), 4U);
  EXPECT_EQ(insight.decision_count, 4);
  EXPECT_EQ(insight.decisions[0].gpu, GpuId{0});
  EXPECT_EQ(insight.decisions[0].reason, (Reason{.text = "a", .numbers = {{"gain", 1.5}}}));
  EXPECT_EQ(insight.decisions[0].steps, (std::vector<SliceChange>{DestroySlice{here}, CreateSlice{here}}));
  EXPECT_EQ(insight.decisions[1].gpu, GpuId{1});
  EXPECT_EQ(insight.decisions[1].steps.size(), 2U);
  EXPECT_EQ(insight.decisions[2].reason.text, "b");
  EXPECT_EQ(insight.decisions[2].acts_at, Instant::at_second(7));
  EXPECT_EQ(insight.decisions[3].acts_at, Instant::at_second(8));
}

TEST(DecisionLog, KeepsTheFirstAndCountsAll) {
  DecisionLog log;
  const Plan plan = plan_of({because(destroy(slice_at(0, "1g.10gb", 0)), "a")});
  const auto count = static_cast<std::int64_t>(kDecisionsMax) + 3;
  for (std::int64_t second = 0; second < count; ++second) log.add(plan, Instant::at_second(second));
  const Insight insight = moved(log);
  EXPECT_EQ(insight.decision_count, count);
  ASSERT_EQ(insight.decisions.size(), kDecisionsMax);
  EXPECT_EQ(insight.decisions.back().acts_at, Instant::at_second(count - 4));
}

}  // namespace
}  // namespace berth::measure
