#include "planner/one_gpu/one_gpu.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/continuations.h"
#include "planner/one_gpu/testing/tiny_search.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using testing::kArrangementsMax;
using testing::one_gpu_problem;
using testing::quarters_problem;
using testing::tiny_problem;

StandingPiece standing(int site, int service, int use = 0, int ready_in = 0) {
  return {.piece = {.site = SiteIndex(site), .service = ServiceIndex(service), .use = use}, .ready_in = ready_in};
}

/// The answer, after the checker has accepted it.
Answer solved(const Problem& problem, const SearchLimits& limits = {}) {
  Answer answer = solve_one_gpu(problem, limits);
  if (answer.is_infeasible) return answer;
  EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt);
  const double objective = evaluate(problem, answer.schedule).objective;
  EXPECT_NEAR(objective, answer.objective, 1e-9 * (1 + std::abs(objective)));
  EXPECT_GE(answer.bound, answer.objective);
  return answer;
}

void expect_proven(const Answer& answer, double objective) {
  EXPECT_FALSE(answer.is_infeasible);
  EXPECT_NEAR(answer.objective, objective, 1e-9 * (1 + std::abs(objective)));
  EXPECT_NEAR(answer.bound, answer.objective, 1e-9 * (1 + std::abs(objective)));
}

TEST(OneGpu, BeginsAtOnceWhereNothingStands) {
  // 2 s of start and half a second of creating: 3 of the 10 slots.
  const Answer answer = solved(quarters_problem(1, 10));
  expect_proven(answer, 70);
  ASSERT_EQ(answer.schedule.gpus.at(0).size(), 1U);
  EXPECT_EQ(answer.schedule.gpus[0][0].slot, 0);
}

TEST(OneGpu, LeavesWhatStandsWhereAChangeDoesNotPay) {
  Problem problem = quarters_problem(2, 3);
  problem.gpus[0].standing = {standing(6, 0)};
  const Answer answer = solved(problem);
  expect_proven(answer, 30);
  EXPECT_TRUE(answer.schedule.gpus.at(0).empty());
}

TEST(OneGpu, PreparesASliceBesideARunningOneBeforeItIsNeeded) {
  Problem problem = quarters_problem(2, 10);
  problem.gpus[0].standing = {standing(0, 0)};
  for (const SlotIndex slot : Indices<SlotIndex>(5)) problem.services[1].loads[static_cast<std::size_t>(slot)] = 0;
  expect_proven(solved(problem), 100 + 50);
}

TEST(OneGpu, GivesAStandingSliceAwayWhereItsNewOwnerGainsMore) {
  // A piece that is handed over works after 2 slots, a new one after 3. So service 0 takes the quarter of service 1,
  // which creates another one: 5 x (8 x 10 + 6 x 10) + 5 x 10, and not 5 x (8 x 10 + 5 x 10) + 8 x 10.
  Problem problem = quarters_problem(2, 8);
  problem.gpus[0].standing = {standing(0, 0), standing(1, 1)};
  problem.services[0].value = 5;
  problem.services[0].loads.assign(9, 20);
  expect_proven(solved(problem), 750);
}

TEST(OneGpu, RetrainsWhereThatPays) {
  // The quarter of the service continues to work. The half next to it begins in slot 0, is ready in slot 1 and done
  // after 4 slots.
  Problem problem = quarters_problem(1, 20);
  problem.gpus[0].standing = {standing(0, 0)};
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{};
  problem.services[0].retraining->is_stale = true;
  expect_proven(solved(problem), 5 * 10 * 0.5 + 15 * 10);
}

TEST(OneGpu, RetrainsAgainAfterEachDueSlot) {
  Problem problem = quarters_problem(1, 20);
  problem.gpus[0].standing = {standing(0, 0), standing(5, 0, kRetraining)};
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{};
  problem.services[0].retraining->is_stale = true;
  problem.services[0].retraining->due_slots = {SlotIndex(10)};
  expect_proven(solved(problem), 2 * (4 * 10 * 0.5 + 6 * 10));
}

TEST(OneGpu, ChangesNothingWithoutABudget) {
  Problem problem = quarters_problem(1, 10);
  problem.services[0].changes_max = 0;
  expect_proven(solved(problem), 0);
}

TEST(OneGpu, WaitsForFrozenSlotsAndForWhatIsOnItsWay) {
  Problem problem = quarters_problem(1, 10);
  problem.is_frozen.assign(10, 0);
  problem.is_frozen[0] = problem.is_frozen[1] = 1;
  expect_proven(solved(problem), 50);
  problem.is_frozen.clear();
  problem.gpus[0].free_from = SlotIndex(4);
  expect_proven(solved(problem), 30);
  problem.gpus[0].free_from = SlotIndex(0);
  problem.gpus[0].standing = {standing(0, kNoService, 0, 5)};
  expect_proven(solved(problem), 30);  // handed over in slot 5, it works after 2 slots
}

TEST(OneGpu, FindsThatTwoRetrainingsMakeRoomForTheThirdService) {
  // Site 6 is free, site 2 service 1's. Both retrain for two slots, then both belong to service 3.
  const Problem problem = one_gpu_problem(Rng(49), 4, 20);
  const Piece third = {.site = SiteIndex(3), .service = ServiceIndex(3), .use = 1};
  const Piece first = {.site = SiteIndex(7), .service = ServiceIndex(1), .use = 0};
  const Piece second = {.site = SiteIndex(9), .service = ServiceIndex(2), .use = 0};
  const Piece in_two = {.site = SiteIndex(2), .service = ServiceIndex(2), .use = kRetraining};
  const Piece in_six = {.site = SiteIndex(6), .service = ServiceIndex(1), .use = kRetraining};
  const Schedule known = {{{{.slot = SlotIndex(0), .to = {in_two, third, in_six, first, second}},
                            {.slot = SlotIndex(2),
                             .to = {{.site = SiteIndex(2), .service = ServiceIndex(3), .use = 1},
                                    third,
                                    {.site = SiteIndex(6), .service = ServiceIndex(3), .use = 1},
                                    first,
                                    second}}}}};
  ASSERT_EQ(find_fault(problem, known), std::nullopt);
  const Answer answer = solved(problem, {.nodes_max = 500'000});
  EXPECT_GE(answer.bound, evaluate(problem, known).objective);
  EXPECT_GE(answer.objective, evaluate(problem, known).objective * (1 - 1e-9));
}

TEST(OneGpu, SharesAGpuOnlyWhereIsolationAllowsIt) {
  Problem problem = quarters_problem(2, 10);
  expect_proven(solved(problem), 140);
  problem.services[0].trust_domain = 1;
  expect_proven(solved(problem), 70);
  problem.services[0].trust_domain = -1;
  problem.services[1].is_alone_on_gpu = true;
  expect_proven(solved(problem), 70);
}

TEST(OneGpu, ProvesThatNoScheduleKeepsTheFloors) {
  Problem problem = quarters_problem(2, 6);
  problem.services[0].floor_rate = 30;
  problem.services[1].floor_rate = 10;
  expect_proven(solved(problem), 60);
  problem.services[0].floor_rate = 35;
  EXPECT_TRUE(solve_one_gpu(problem, {}).is_infeasible);
  problem.services[1].floor_rate = 0;
  problem.services[0].floor_rate = 50;
  EXPECT_TRUE(solve_one_gpu(problem, {}).is_infeasible);
}

TEST(OneGpu, DestroysAnUnusedSliceBeforeItsRoomIsNeeded) {
  // Service 1 serves on halves alone and comes in slot 5, when service 0, which serves on quarters alone and is of
  // another trust domain, is gone. A half is ready after 3 slots, and after 4 where a slice has to be destroyed; the
  // unused quarter can be destroyed earlier. Service 0 cannot own it until then: one slice of it may be destroyed.
  Problem problem = quarters_problem(2, 12);
  problem.destroy_seconds = 1;
  problem.change_price = 0.1;
  problem.gpus[0].standing = {standing(0, kNoService), standing(2, 0)};
  problem.services[0].changes_max = 1;
  problem.services[1].trust_domain = 1;
  problem.models[0].rates[0][1].requests_per_second = {0};
  for (const KindIndex kind : {KindIndex(1), KindIndex(2)}) problem.models[0].rates[kind][0].requests_per_second = {0};
  for (const SlotIndex slot : Indices<SlotIndex>(13)) {
    problem.services[slot < 5 ? 1 : 0].loads[static_cast<std::size_t>(slot)] = 0;
  }
  const Answer answer = solved(problem);
  expect_proven(answer, 5 * 10 + 4 * 10 - 3 * 0.1);
  ASSERT_GE(answer.schedule.gpus[0].size(), 2U);
  EXPECT_THAT(answer.schedule.gpus[0][0].to, ::testing::ElementsAre(standing(2, 0).piece));
}

TEST(OneGpu, FindsTheBestOfAllWaysOn) {
  constexpr int kSeeds = berth::testing::by_build(600, 60);
  int changing = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    testing::TinySearch search(problem);
    if (search.state.labels.root().value == kNever || search.continuations.all().size() > kArrangementsMax) continue;
    search.state.labels.restart();
    const double best = search.continuations.best(search.state.labels[LabelIndex(0)], search.gpu_case.first_slot);
    const Answer answer = solved(problem);
    ASSERT_EQ(answer.is_infeasible, best == kNever);
    if (answer.is_infeasible) continue;
    expect_proven(answer, best);
    if (!answer.schedule.gpus[0].empty()) ++changing;
  }
  EXPECT_GT(changing, kSeeds / 4);
}

TEST(OneGpu, MayRetrainLaterWhereProgressIsKeptWhenItIsDue) {
  // A retraining that moves to another slice is completed exactly when the next is due, so the model is fresh for the
  // rest.
  const Problem problem = testing::one_gpu_of_tiny(133964873633431);
  const std::optional<Answer> truth = testing::Exhaustive(problem, 3'000'000).solve();
  ASSERT_TRUE(truth.has_value());
  expect_proven(solved(problem), truth->objective);
}

TEST(OneGpu, AgreesWithTheExhaustiveSearch) {
  constexpr int kSeeds = berth::testing::by_build(60, 15);
  int known = 0;
  for (std::uint64_t seed = 10'000; seed < 10'000 + kSeeds && !HasFailure(); ++seed) {
    const Problem problem = tiny_problem(Rng(seed));
    if (problem.gpus.size() > 1) continue;
    const std::optional<Answer> truth = testing::Exhaustive(problem).solve();
    if (!truth) continue;
    ++known;
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Answer answer = solved(problem);
    ASSERT_EQ(answer.is_infeasible, truth->is_infeasible);
    if (!truth->is_infeasible) expect_proven(answer, truth->objective);
  }
  EXPECT_GT(known, kSeeds / 3);
}

TEST(OneGpu, IsSoundWhereTheNodesDoNotSuffice) {
  for (std::uint64_t seed = 0; seed < 6 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = one_gpu_problem(Rng(seed), 4, seed % 2 == 0 ? 20 : 60, 2);
    const Answer few = solved(problem, {.nodes_max = 500});
    const Answer more = solved(problem, {.nodes_max = 20'000});
    EXPECT_GE(more.objective, few.objective);
    EXPECT_GE(few.bound, more.objective);
    EXPECT_LE(more.nodes, 25'000);
  }
}

TEST(OneGpu, IsNoWorseThanStayingHoweverFewTheNodes) {
  const Schedule stays{.gpus = {{}}};
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = one_gpu_problem(Rng(seed), 3, 30);
    if (find_fault(problem, stays)) continue;
    ++compared;
    const double objective = evaluate(problem, stays).objective;
    EXPECT_GE(solved(problem, {.nodes_max = 1}).objective, objective - 1e-9 * (1 + std::abs(objective)));
  }
  EXPECT_GT(compared, 10);
}

TEST(OneGpu, IsBoundedWhereSlicesServeToRetrainAlone) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = one_gpu_problem(Rng(seed), 3, 12);
    for (std::vector<Rates>& kind : problem.models.front().rates) {
      // Odd kinds serve no service; a slice of them is worth something only in the window, to a service that retrains.
      if ((&kind - problem.models.front().rates.data()) % 2 == 0) continue;
      for (Rates& rates : kind) std::ranges::fill(rates.requests_per_second, 0.0);
    }
    const Answer answer = solved(problem, {.nodes_max = 300});
    EXPECT_TRUE(answer.is_infeasible || std::isfinite(answer.bound));
  }
}

TEST(OneGpu, GivesTheSameAnswerTwice) {
  const Problem problem = one_gpu_problem(Rng(3), 8, 60);
  const Answer one = solved(problem, {.nodes_max = 3000});
  const Answer other = solved(problem, {.nodes_max = 3000});
  EXPECT_EQ(one.objective, other.objective);
  EXPECT_EQ(one.bound, other.bound);
  EXPECT_EQ(one.nodes, other.nodes);
  ASSERT_EQ(one.schedule.gpus[0].size(), other.schedule.gpus[0].size());
  for (std::size_t i = 0; i < one.schedule.gpus[0].size(); ++i) {
    EXPECT_EQ(one.schedule.gpus[0][i].slot, other.schedule.gpus[0][i].slot);
    EXPECT_EQ(one.schedule.gpus[0][i].to, other.schedule.gpus[0][i].to);
  }
}

}  // namespace
}  // namespace berth::planner
