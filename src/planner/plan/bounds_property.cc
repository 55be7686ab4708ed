// No schedule that a search finds is worth more than the bound that the same search, or one of a wider problem, proves:
// `checked_bound` ends the program where that fails. Random problems of one GPU and of fleets, with and without rules,
// with few and many nodes, solved like plans and like the what-if questions behind their reasons.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/plan/solve.h"
#include "planner/plan/steps.h"
#include "planner/plan/what_if.h"
#include "planner/window/check.h"
#include "planner/window/checked_bound.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// Debug builds and sanitizers are ten times slower.
#ifdef NDEBUG
constexpr std::uint64_t kSeeds = 120;
#else
constexpr std::uint64_t kSeeds = 30;
#endif

/// No bound covered a slice that a service drops, a retraining takes for one second, and the service gets back.
const std::vector<std::uint64_t> kRefutedOnce = {102010};

constexpr int kStepsForbidden = 4;  ///< of a schedule, each forbidden in turn

/// A problem of any shape with its own search method: the joint bound alone, prices, a fleet of 2 to 4 GPUs.
Problem any_problem(std::uint64_t seed) {
  Rng rng = Rng(seed).split("problem");
  const std::vector<std::vector<std::string>> fleets = {{"A30-24GB"},
                                                        {"A100-80GB"},
                                                        {"A30-24GB", "A100-80GB"},
                                                        {"A30-24GB", "A30-24GB", "A30-24GB"},
                                                        {"A100-80GB", "A100-80GB", "A30-24GB", "A30-24GB"}};
  testing::Shape shape{.gpus = fleets[rng.below(fleets.size())]};
  shape.services = 1 + static_cast<int>(rng.below(4));
  shape.slots = 4 + static_cast<int>(rng.below(30));
  shape.samples = 1 + static_cast<int>(rng.below(4));
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 4;
  shape.retraining_percent = rng.below(2) == 0 ? 0 : 70;
  shape.rules_percent = rng.below(2) == 0 ? 0 : 25;
  shape.oddities_percent = rng.below(2) == 0 ? 0 : 60;
  shape.price_percent = 60;
  return testing::ProblemGenerator(shape, rng).draw();
}

bool is_complete(const Answer& answer) { return !answer.is_infeasible && !answer.misses_floors; }

void expect_bound_holds(double bound, double objective) {
  EXPECT_GE(bound, objective - kBoundTolerance * std::max(1.0, std::abs(objective)));
}

TEST(Bounds, NoScheduleThatIsFoundRefutesAProof) {
  int complete = 0;
  int forbidden = 0;
  std::vector<std::uint64_t> seeds = kRefutedOnce;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) seeds.push_back(seed);
  for (const std::uint64_t seed : seeds) {
    if (HasFailure()) break;
    const Problem problem = any_problem(seed);
    SCOPED_TRACE(fmt::format("any_problem({})\n{}", seed, testing::to_text(problem)));
    Answer few;
    few.is_infeasible = true;
    for (const SearchLimits& limits : {SearchLimits{.nodes_max = 30}, SearchLimits{.nodes_max = 3'000, .gap = 0.003},
                                       SearchLimits{.nodes_max = 20'000}}) {
      Answer answer = solve(problem, limits, is_complete(few) ? few.schedule : Schedule());
      if (!is_complete(answer)) continue;
      ++complete;
      EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt);
      EXPECT_GE(answer.bound, answer.objective);
      // No search finds more than another one proves possible.
      if (is_complete(few)) {
        expect_bound_holds(few.bound, answer.objective);
        expect_bound_holds(answer.bound, few.objective);
      }
      few = std::move(answer);
    }
    if (!is_complete(few)) continue;
    int asked = 0;
    WhatIfs what_ifs(problem, few.schedule);
    for (const Step& step : steps_of(problem, few.schedule)) {
      if (step.type == StepType::kKeep || ++asked > kStepsForbidden) continue;
      const std::optional<Alternative> other =
          what_ifs.without(step.gpu, step.piece, ban_of(step.type), {.nodes_max = 2'000});
      if (!other) continue;
      ++forbidden;
      if (other->bound) {
        EXPECT_GE(*other->bound, other->objective);
      }
      expect_bound_holds(few.bound, other->objective);  // its schedules are some of the whole problem's
    }
  }
  EXPECT_GT(complete, kSeeds);
  EXPECT_GT(forbidden, kSeeds / 2);
}

}  // namespace
}  // namespace berth::planner
