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

/// Inference pieces of a service at the end of the window.
int pieces_at_end(const Problem& problem, const Schedule& schedule, ServiceIndex service) {
  int count = 0;
  for (std::size_t gpu = 0; gpu < problem.gpus.size(); ++gpu) {
    Configuration pieces;
    for (const StandingPiece& standing : problem.gpus[gpu].standing) pieces.push_back(standing.piece);
    if (!schedule.gpus[gpu].empty()) pieces = schedule.gpus[gpu].back().to;
    for (const Piece& piece : pieces) count += piece.service == service && piece.use != kRetraining ? 1 : 0;
  }
  return count;
}

TEST(Solve, KeepsNumbersOfSlicesWithoutLoad) {
  for (const int gpus : {1, 2}) {
    Problem problem = testing::quarters_problem(2, 20);
    for (ServiceTerms& service : problem.services) service.loads.assign(21, 0);
    problem.services[1].counts_slices = true;
    problem.services[1].floor_rate = 3;
    problem.gpus.resize(static_cast<std::size_t>(gpus), problem.gpus.front());
    const Answer answer = solve(problem, {});
    ASSERT_FALSE(answer.is_infeasible || answer.misses_floors) << gpus;
    EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt) << gpus;
    EXPECT_EQ(pieces_at_end(problem, answer.schedule, ServiceIndex(0)), 0) << gpus;
    EXPECT_GE(pieces_at_end(problem, answer.schedule, ServiceIndex(1)), 3) << gpus;
    EXPECT_TRUE(find_fault(problem, Schedule{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())}));
  }
}

TEST(Solve, MakesSlicesWithoutLoadBesideThoseOfManyServices) {
  constexpr int kServices = 6;
  Problem problem = testing::quarters_problem(kServices, 20);
  problem.gpus.resize(2, problem.gpus.front());
  for (ServiceTerms& service : problem.services) {
    service.loads.assign(21, 0);
    service.counts_slices = true;
    service.floor_rate = 1;
    service.slices_max = 1;
  }
  const Answer answer = solve(problem, {.nodes_max = 50});
  ASSERT_FALSE(answer.is_infeasible || answer.misses_floors);
  EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt);
  for (int service = 0; service < kServices; ++service) {
    EXPECT_EQ(pieces_at_end(problem, answer.schedule, ServiceIndex(service)), 1) << service;
  }
}

TEST(Solve, KeepsToAMostNumberOfSlicesUnderLoad) {
  for (const int gpus : {1, 2}) {
    Problem problem = testing::quarters_problem(1, 20);
    problem.services[0].loads.assign(21, 100);
    problem.gpus.resize(static_cast<std::size_t>(gpus), problem.gpus.front());
    problem.models[0].rates[2][0].requests_per_second = {0};  // two halves are best
    const Answer free = solve(problem, {});
    EXPECT_GT(pieces_at_end(problem, free.schedule, ServiceIndex(0)), 1) << gpus;
    problem.services[0].slices_max = 1;
    const Answer limited = solve(problem, {});
    EXPECT_EQ(find_fault(problem, limited.schedule), std::nullopt) << gpus;
    EXPECT_EQ(pieces_at_end(problem, limited.schedule, ServiceIndex(0)), 1) << gpus;
    EXPECT_TRUE(find_fault(problem, free.schedule)) << gpus;
  }
}

}  // namespace
}  // namespace berth::planner
