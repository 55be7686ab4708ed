#include "planner/one_gpu/detail/labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/service_bound.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/one_gpu/testing/continuations.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

Problem one_gpu_of_small(std::uint64_t seed) {
  Problem problem = testing::small_problem(Rng(seed));
  problem.gpus.resize(1);
  return problem;
}

/// The value of a schedule label by label, slot by slot if `holds`; nothing if it is not allowed.
std::optional<double> schedule_value(const GpuCase& gpu_case, const std::vector<Change>& changes, bool holds) {
  Arrangements arrangements(gpu_case);
  Labels labels(gpu_case, arrangements);
  labels.restart();
  LabelIndex now(0);
  SlotIndex t = gpu_case.first_slot;
  const auto go_on_until = [&](SlotIndex end) {
    if (!labels.may_stay(labels[now], t, end)) return false;
    if (!holds) labels[now] = labels.stay(labels[now], t, end);
    for (; holds && t < end; ++t) labels.hold(now, t);
    t = end;
    return true;
  };
  for (const Change& change : changes) {
    if (!go_on_until(change.slot)) return std::nullopt;
    std::optional<Label> child = labels.change(labels[now], arrangements.number_of(change.to), t);
    if (!child) return std::nullopt;
    child->parent = now;
    now = labels.add(*child);
    t = child->ready;
  }
  if (!go_on_until(gpu_case.end())) return std::nullopt;
  EXPECT_EQ(labels.changes_of(labels[now]).size(), changes.size());
  return labels[now].value + labels.tail_of(labels[now]);
}

TEST(Labels, AreWorthWhatTheCheckerSays) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(100, 10))) {
    SCOPED_TRACE(fmt::format("small_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_small(seed);
    const Answer answer = solve_one_gpu(problem, {.nodes_max = 500});
    const GpuCase gpu_case(problem);
    if (answer.is_infeasible || gpu_case.first_slot == gpu_case.end()) continue;
    ++judged;
    for (const bool holds : {false, true}) {
      const std::optional<double> value = schedule_value(gpu_case, answer.schedule.gpus.front(), holds);
      ASSERT_TRUE(value.has_value());
      const double wanted = evaluate(problem, answer.schedule).objective;
      EXPECT_NEAR(*value, wanted, 1e-9 * (1 + std::abs(wanted)));
    }
  }
  EXPECT_GT(judged, 0);
}

/// Trying every continuation from label to label gives the result of the exhaustive search, which uses only the
/// checker.
TEST(Labels, LeadToTheBestOfAllSchedules) {
  int judged = 0;
  int retraining = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(100, 30))) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const std::optional<Answer> truth = testing::Exhaustive(problem, 1'000).solve();
    const GpuCase gpu_case(problem);
    if (!truth || gpu_case.first_slot == gpu_case.end()) continue;
    Arrangements arrangements(gpu_case);
    Labels labels(gpu_case, arrangements);
    labels.restart();
    testing::Continuations continuations(gpu_case, arrangements, labels, testing::RetrainsInVain::kYes);
    const double best = continuations.best(labels[LabelIndex(0)], gpu_case.first_slot);
    if (truth->is_infeasible) {
      EXPECT_EQ(best, kNever);
      continue;
    }
    ++judged;
    if (labels.retrains(ServiceIndex(0))) ++retraining;
    EXPECT_NEAR(best, truth->objective, 1e-9 * (1 + std::abs(truth->objective)));
  }
  EXPECT_GT(judged, 0);
  EXPECT_GT(retraining, 0);
}

/// There is a quarter, and a retraining of service 0 is in progress.
Problem problem_with_budget() {
  Problem problem = testing::quarters_problem(1, 10);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  problem.services[0].changes_max = 1;
  return problem;
}

TEST(Labels, LeaveNothingBehindWhenAChangeIsUndone) {
  const Problem problem = problem_with_budget();
  const GpuCase gpu_case(problem);
  Arrangements arrangements(gpu_case);
  Labels labels(gpu_case, arrangements);
  labels.restart();
  const Labels::Mark before = labels.mark();
  const Configuration two = {{.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0},
                             {.site = SiteIndex(1), .service = ServiceIndex(0), .use = 0}};
  const ArrangementIndex number = arrangements.number_of(two);
  const std::optional<Label> first = labels.change(labels[LabelIndex(0)], number, SlotIndex(0));
  ASSERT_TRUE(first.has_value());
  EXPECT_GT(labels.mark().models, before.models);
  EXPECT_GT(labels.mark().changed, before.changed);
  labels.undo(before);
  const std::optional<Label> again = labels.change(labels[LabelIndex(0)], number, SlotIndex(0));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->value, first->value);
  EXPECT_EQ(again->models, first->models);
}

TEST(Labels, PushNothingForAChangeThatABudgetForbids) {
  const Problem problem = problem_with_budget();
  const GpuCase gpu_case(problem);
  Arrangements arrangements(gpu_case);
  Labels labels(gpu_case, arrangements);
  labels.restart();
  const Labels::Mark before = labels.mark();
  // A quarter is destroyed and a half is created: two changes.
  const ArrangementIndex half = arrangements.number_of({{.site = SiteIndex(5), .service = ServiceIndex(0), .use = 0}});
  EXPECT_FALSE(labels.change(labels[LabelIndex(0)], half, SlotIndex(0)).has_value());
  EXPECT_EQ(labels.mark().models, before.models);
  EXPECT_EQ(labels.mark().changed, before.changed);
}

TEST(Labels, ForgetAllButTheRoot) {
  const Problem problem = problem_with_budget();
  const GpuCase gpu_case(problem);
  Arrangements arrangements(gpu_case);
  Labels labels(gpu_case, arrangements);
  labels.restart();
  labels.hold(LabelIndex(0), SlotIndex(0));
  EXPECT_NE(labels[LabelIndex(0)].value, labels.root().value);
  labels.restart();
  EXPECT_EQ(labels.count(), 1);
  EXPECT_EQ(labels[LabelIndex(0)].value, labels.root().value);
  EXPECT_EQ(labels.state_of(labels[LabelIndex(0)], ServiceIndex(0)), labels.state_of(labels.root(), ServiceIndex(0)));
}

}  // namespace
}  // namespace berth::planner
