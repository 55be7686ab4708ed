#include "planner/fleet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/check.h"
#include "planner/detail/test_problems.h"

namespace berth::planner {
namespace {

/// The schedule is legal, and the figures are its own.
void expect_sound(const Problem& problem, const Answer& answer) {
  if (answer.is_infeasible) return;
  const auto fault = find_fault(problem, answer.schedule);
  if (answer.misses_floors) {
    Problem without = problem;
    for (ServiceTerms& service : without.services) service.floor_rate = 0;
    ASSERT_EQ(find_fault(without, answer.schedule).value_or(""), "");
    EXPECT_TRUE(fault.has_value());
  } else {
    ASSERT_EQ(fault.value_or(""), "");
  }
  const double objective = evaluate(problem, answer.schedule).objective;
  EXPECT_NEAR(answer.objective, objective, 1e-9 * (1 + std::abs(objective)));
  if (!answer.misses_floors) {
    EXPECT_LE(answer.objective, answer.bound);
  }
}

TEST(Fleet, RandomFleetsOfEverySizeGetSoundAnswers) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int gpus = 1 + static_cast<int>(seed % 5);
    const int services = 1 + static_cast<int>(seed / 5 % 6);
    const Problem problem = testing::fleet_problem(Rng(seed), gpus, services, 60, seed % 2 == 0 ? 0 : 30);
    SCOPED_TRACE(seed);
    expect_sound(problem, solve_fleet(problem, {}));
  }
}

TEST(Fleet, TinyProblemsWithEveryRuleGetSoundAnswers) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem = testing::tiny_problem(Rng(seed));
    SCOPED_TRACE(seed);
    expect_sound(problem, solve_fleet(problem, {}));
  }
}

}  // namespace
}  // namespace berth::planner
