#include "planner/plan/floor_proof.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/core/test_cases.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

TEST(FloorProof, NoProofWhereAScheduleMeetsAllFloors) {
  constexpr std::uint64_t kSeeds = berth::testing::by_build(400, 120);
  std::uint64_t met = 0;
  std::uint64_t proven = 0;
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    Rng rng(seed);
    const int gpus = 1 + static_cast<int>(rng.below(4));
    Problem problem = testing::fleet_problem(rng.split("problem"), gpus, 3, 4, 40);
    const double factor = 0.4 + 1.6 * rng.unit();
    for (ServiceTerms& service : problem.services) service.floor_rate *= factor;
    const bool is_proven = is_floor_shortage_proven(problem);
    proven += is_proven ? 1 : 0;
    const Answer answer = solve(problem, {.nodes_max = 2'000, .gap = 0.1});
    if (answer.is_infeasible || answer.misses_floors) continue;
    ++met;
    ASSERT_EQ(find_fault(problem, answer.schedule), std::nullopt);
    EXPECT_FALSE(is_proven) << fmt::format("seed {}\n{}", seed, testing::to_text(problem));
  }
  EXPECT_GT(met, kSeeds * 3 / 20);
  EXPECT_GT(proven, kSeeds * 3 / 40);
}

}  // namespace
}  // namespace berth::planner
