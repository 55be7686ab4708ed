#include "planner/plan/solve.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// An empty GPU, and a service with a load for a half or two quarters, at a price for each slice. It cannot serve on
/// the whole GPU.
Problem one_half_wanted() {
  Problem problem = testing::quarters_problem(1, 20);
  problem.services[0].loads.assign(21, 20);
  problem.models[0].rates[2][0].requests_per_second = {0};
  problem.change_price = 1;
  return problem;
}

/// The kinds of slices after the first change, ascending; 0: a quarter, 1: a half.
std::vector<int> kinds_of(const Problem& problem, const Answer& answer) {
  std::vector<int> kinds;
  for (const Piece& piece : answer.schedule.gpus[0].at(0).to) {
    kinds.push_back(problem.models[0].sites[piece.site].kind);
  }
  return kinds;
}

TEST(Solve, WhatTakesLongToCreateIsNotChosen) {
  Problem problem = one_half_wanted();
  const Answer assumed = solve(problem, {});
  EXPECT_EQ(kinds_of(problem, assumed), std::vector<int>({1})) << "one slice is cheaper than two";
  problem.models[0].create_seconds = {0.5, 12, 12};
  problem.models[0].destroy_seconds = {0.5, 0.5, 0.5};
  const Answer measured = solve(problem, {});
  EXPECT_EQ(kinds_of(problem, measured), std::vector<int>({0, 0}));
  EXPECT_LT(measured.objective, assumed.objective);
  EXPECT_EQ(find_fault(problem, assumed.schedule), std::nullopt);
  EXPECT_LT(evaluate(problem, assumed.schedule).objective, measured.objective) << "the old plan is worth less now";
}

}  // namespace
}  // namespace berth::planner
