#include "planner/many_gpus/fleet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/fleets.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// The schedule is legal and has the stated figures.
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
  constexpr int kSeeds = berth::testing::by_build(60, 15);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
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

TEST(Fleet, LargeFleetsWithEveryRuleGetSoundAnswers) {
  constexpr int kSeeds = berth::testing::by_build(12, 4);
  int misses = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const int gpus = 17 + static_cast<int>(seed) * 5;
    const Problem problem =
        testing::fleet_problem(Rng(seed), gpus, 5 + static_cast<int>(seed), 60, seed % 3 == 0 ? 0 : 15);
    SCOPED_TRACE(seed);
    const Answer answer = solve_fleet(problem, {});
    expect_sound(problem, answer);
    misses += answer.misses_floors && !answer.is_infeasible ? 1 : 0;
  }
  EXPECT_LE(misses, kSeeds / 2);
}

/// The gaps of the seeds 0 to 15 are 0.16 to 1.16 % with a mean of 0.561 %. A change of the search shifts single fleets
/// by up to 0.035 points either way, so the limit on the mean is close to the measured value and the limit on each
/// fleet is loose.
TEST(Fleet, LargeFleetsWithFloorsAreNearTheBound) {
  constexpr int kSeeds = berth::testing::by_build(16, 4);
  double gaps = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = testing::large_fleet(Rng(seed), 200, 20);
    SCOPED_TRACE(seed);
    const Answer answer = solve_fleet(problem, {});
    expect_sound(problem, answer);
    EXPECT_FALSE(answer.misses_floors);
    EXPECT_LT(answer.bound - answer.objective, 0.012 * answer.bound);
    gaps += (answer.bound - answer.objective) / answer.bound;
  }
  EXPECT_LT(gaps / kSeeds, 0.0058);
}

/// A GPU that was tried for a retraining and not chosen must not keep it: two retraining pieces of one service are
/// illegal, and the repair costs a gap of 6 %.
TEST(Fleet, LargeFleetsRetrainWhereThatIsBest) {
  constexpr int kSeeds = berth::testing::by_build(4, 1);
  double gaps = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Problem problem = testing::large_fleet(Rng(seed), 200, 20, 50, 5, 20);
    const Answer answer = solve_fleet(problem, {});
    expect_sound(problem, answer);
    gaps += (answer.bound - answer.objective) / answer.bound;
  }
  EXPECT_LT(gaps / kSeeds, 0.04);
}

TEST(Fleet, FewNodesGetSoundAnswersToo) {
  constexpr int kSeeds = berth::testing::by_build(20, 8);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const int gpus = seed % 4 == 0 ? 20 : 2 + static_cast<int>(seed % 4);
    const Problem problem = testing::fleet_problem(Rng(seed), gpus, 5, 60, seed % 2 == 0 ? 0 : 20);
    SCOPED_TRACE(seed);
    expect_sound(problem, solve_fleet(problem, {.nodes_max = 500}));
  }
}

/// The layout of a file may hold a slice for a retraining that is not possible on it.
TEST(Fleet, ARetrainingPieceThatGivesNothingMayStand) {
  int standing = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::fleet_problem(Rng(seed), 3, 4, 30, 0);
    for (GpuTerms& gpu : problem.gpus) {
      ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
      for (const StandingPiece& each : gpu.standing) {
        if (each.piece.use != kRetraining || each.piece.service == kNoService) continue;
        ++standing;
        const KindIndex kind = model.sites[static_cast<std::size_t>(each.piece.site)].kind;
        model.rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(each.piece.service)].retraining_slots = 0;
      }
    }
    expect_sound(problem, solve_fleet(problem, {.nodes_max = 500}));
  }
  EXPECT_GT(standing, 5);
}

TEST(Fleet, TheSameProblemGetsTheSameAnswer) {
  const Problem problem = testing::large_fleet(Rng(3), 60, 12, 50, 5, 20);
  const Answer first = solve_fleet(problem, {});
  const Answer second = solve_fleet(problem, {});
  EXPECT_EQ(first.objective, second.objective);
  EXPECT_EQ(first.bound, second.bound);
  EXPECT_EQ(first.nodes, second.nodes);
}

}  // namespace
}  // namespace berth::planner
