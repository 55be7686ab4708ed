#include "planner/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/test_cases.h"
#include "window/check.h"
#include "window/testing/problems.h"
#include "planner/solve.h"
#include "planner/steps.h"

namespace berth::planner {
namespace {

constexpr SearchLimits kLimits{.nodes_max = 300, .gap = 0};
constexpr SearchLimits kLongLimits{.nodes_max = 2'000, .gap = 0};

Problem any_problem(std::uint64_t seed) {
  const int gpus = 1 + static_cast<int>(seed % 2);
  return gpus == 1 ? testing::one_gpu_problem(Rng(seed), 3, 12) : testing::fleet_problem(Rng(seed), gpus, 3, 12, 10);
}

bool has_site(const Configuration& pieces, int site) {
  return std::ranges::find(pieces, site, &Piece::site) != pieces.end();
}

/// Whether a schedule does on the GPU what the ban forbids.
bool breaks(const Problem& problem, const Schedule& schedule, const Step& step) {
  Configuration from;
  for (const StandingPiece& each : problem.gpus[static_cast<std::size_t>(step.gpu)].standing)
    from.push_back(each.piece);
  for (const Change& change : schedule.gpus[static_cast<std::size_t>(step.gpu)]) {
    const bool is_there = has_site(change.to, step.piece.site);
    const bool was_there = has_site(from, step.piece.site);
    if (step.type == StepType::kDestroy && was_there && !is_there) return true;
    if (step.type == StepType::kCreate && !was_there && is_there) return true;
    const bool begins = std::ranges::find(change.to, step.piece) != change.to.end() &&
                        std::ranges::find(from, step.piece) == from.end();
    if (step.type == StepType::kAssign && begins) return true;
    from = change.to;
  }
  return false;
}

/// The reason agrees with solving the problem in which the step is forbidden, for longer, within both gaps.
void expect_agreement(const Problem& problem, const Answer& answer, const ReasonedStep& reasoned) {
  const Step& step = reasoned.step;
  const Problem without = banned(problem, step.gpu, step.piece, ban_of(step.type));
  const Answer again = solve(without, kLongLimits);
  const double rounding = 1e-6 * (1 + std::abs(answer.objective));
  if (again.is_infeasible) {
    EXPECT_FALSE(reasoned.reason.gain.has_value());
    return;
  }
  if (again.misses_floors || !reasoned.reason.gain) return;  // neither found a schedule that keeps the floors
  ASSERT_EQ(find_fault(problem, again.schedule).value_or(""), "");
  EXPECT_FALSE(breaks(problem, again.schedule, step));
  EXPECT_NEAR(evaluate(problem, again.schedule).objective, again.objective, rounding);
  const double gain = *reasoned.reason.gain;
  EXPECT_NEAR(gain, answer.objective - reasoned.reason.objective_instead, rounding);
  // Neither schedule passes the other's bound.
  EXPECT_LE(reasoned.reason.objective_instead, again.bound + rounding);
  EXPECT_LE(again.objective, reasoned.reason.objective_instead + reasoned.reason.gain_slack + rounding);
  EXPECT_GE(gain, answer.objective - again.bound - rounding);
  EXPECT_LE(gain, answer.bound - again.objective + reasoned.reason.gain_slack + rounding);
}

TEST(WhatIf, TwoHundredForbiddenStepsCostWhatTheirReasonsSay) {
  constexpr int kSteps = berth::testing::by_build(200, 40);
  int judged = 0;
  Rng rng(5);
  for (std::uint64_t seed = 0; judged < kSteps; ++seed) {
    ASSERT_LT(seed, 400U);
    const Problem problem = any_problem(seed);
    const Answer answer = solve(problem, kLimits);
    if (answer.is_infeasible || answer.misses_floors) continue;
    std::vector<ReasonedStep> steps = reasons_of(problem, answer, kLimits);
    std::erase_if(steps, [](const ReasonedStep& each) { return each.step.type == StepType::kKeep; });
    if (steps.empty()) continue;
    SCOPED_TRACE(seed);
    for (int k = 0; k < 5; ++k, ++judged) {
      expect_agreement(problem, answer, steps[static_cast<std::size_t>(rng.below(steps.size()))]);
    }
  }
}

TEST(WhatIf, ABetterAnswerThatReasonsComeUponIsTaken) {
  constexpr SearchLimits kTooFew{.nodes_max = 20, .gap = 0};
  constexpr int kSeeds = berth::testing::by_build(16, 6);
  int improved = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = any_problem(seed);
    const Answer answer = solve(problem, kTooFew);
    if (answer.is_infeasible || answer.misses_floors) continue;
    SCOPED_TRACE(seed);
    const ReasonedAnswer best = best_with_reasons(problem, answer, kLimits);
    const double rounding = 1e-9 * (1 + std::abs(answer.objective));
    ASSERT_EQ(find_fault(problem, best.answer.schedule).value_or(""), "");
    EXPECT_NEAR(evaluate(problem, best.answer.schedule).objective, best.answer.objective, rounding);
    EXPECT_GE(best.answer.objective, answer.objective);
    EXPECT_LE(best.answer.objective, answer.bound + rounding);
    improved += best.answer.objective > answer.objective + rounding ? 1 : 0;
    const auto negative = [&](const ReasonedStep& each) { return each.reason.gain.value_or(0) < -rounding; };
    EXPECT_EQ(std::ranges::count_if(best.steps, negative), 0);
  }
  EXPECT_GT(improved, kSeeds / 5);
}

TEST(WhatIf, WhatIsKeptBringsSomething) {
  constexpr int kSeeds = berth::testing::by_build(12, 6);
  int kept = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = any_problem(seed);
    const Answer answer = solve(problem, kLimits);
    if (answer.is_infeasible || answer.misses_floors) continue;
    for (const ReasonedStep& each : reasons_of(problem, answer, {.nodes_max = 200, .gap = 0.05})) {
      if (each.step.type != StepType::kKeep) continue;
      ++kept;
      ASSERT_TRUE(each.reason.gain.has_value());
      EXPECT_GE(*each.reason.gain, -1e-9 * (1 + std::abs(answer.objective)));
    }
  }
  EXPECT_GT(kept, kSeeds * 5 / 12);
}

}  // namespace
}  // namespace berth::planner
