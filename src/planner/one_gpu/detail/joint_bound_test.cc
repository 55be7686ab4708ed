#include "planner/one_gpu/detail/joint_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using testing::one_gpu_problem;
using testing::quarters_problem;

constexpr int kBoundStatesMax = 200'000;
constexpr int kJointBoundJudged = berth::testing::by_build(60, 8);

/// The bound of a whole problem, with blocks of this many slots.
double bound_of(const Problem& problem, Variants variants, int block_slots, double progress_scale = 1) {
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  std::vector<BundleIndex> standing;
  std::vector<ModelState> models;
  for (const ServiceStart& start : search.starts()) {
    standing.push_back(start.bundle);
    models.push_back(start.state);
  }
  const PriceBound prices(gpu_case, search.starts(), 4, 1);
  JointBound joint(gpu_case, variants, kBoundStatesMax);
  EXPECT_TRUE(joint.is_usable());
  joint.set_progress_scales(std::vector<double>(problem.services.size(), progress_scale));
  joint.compute(block_slots, standing, &prices);
  return search.value_before() + joint.from(gpu_case.first_slot, joint.state_of(standing), models, false);
}

TEST(JointBound, IsExactWhereOneChangePays) {
  // 2 s of start and half a second of creating: 3 of the 10 slots.
  const Problem problem = quarters_problem(1, 10);
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 70, 1e-9);
  EXPECT_NEAR(bound_of(problem, Variants::kFree, 2), 70, 1e-9);
}

TEST(JointBound, KnowsThatServicesShareTheGpu) {
  // Each could have all of the GPU alone; together they have four quarters for loads of 20, 20 and 20.
  Problem problem = quarters_problem(3, 10);
  for (ServiceTerms& service : problem.services) service.loads.assign(11, 20);
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 7 * 40, 1e-9);
}

TEST(JointBound, KeepsIsolationAndFloors) {
  Problem problem = quarters_problem(2, 10);
  problem.services[0].trust_domain = 1;
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 70, 1e-9);
  problem.services[0].trust_domain = -1;
  problem.services[1].floor_rate = 40;
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 70, 1e-9);
}

TEST(JointBound, KnowsThePriceOfWhatIsCreatedAndDestroyed) {
  Problem problem = quarters_problem(1, 10);
  problem.change_price = 6;
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 64, 1e-9);
  // Two quarters are created, for loads of 10 each.
  Problem both = quarters_problem(2, 10);
  both.change_price = 6;
  EXPECT_NEAR(bound_of(both, Variants::kKept, 1), 140 - 12, 1e-9);
  // No slice that could be used to retrain is certain to be destroyed.
  problem.services[0].retraining = RetrainingTerms();
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 64, 1e-9) << "it is never stale";
  problem.services[0].retraining->due_slots = {SlotIndex(9)};
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 70, 1e-9);
}

TEST(JointBound, KnowsWhatStartingCostsWhileAModelIsFresh) {
  Problem problem = quarters_problem(1, 10);
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.due_slots = {SlotIndex(8)}};
  // There is no slice that a retraining could hand over: one is created in 3 slots. Then 5 fresh slots and 2 stale
  // ones.
  EXPECT_NEAR(bound_of(problem, Variants::kKept, 1), 5 * 10 + 2 * 5, 1e-9);
}

TEST(JointBound, KnowsWhenASliceIsThereToBeTaken) {
  // Of two services one retrains, for little: progress is worth next to nothing.
  Problem problem = quarters_problem(2, 10);
  problem.services[1].loads.assign(11, 0);
  problem.services[1].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}, .progress_value = 1e-6};
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  const PriceBound prices(gpu_case, search.starts(), 4, 1);
  JointBound joint(gpu_case, Variants::kKept, kBoundStatesMax);
  joint.compute(1, {kEmptyBundle, kEmptyBundle}, &prices);
  const std::vector<ModelState> models = {{}, {.is_stale = true}};
  // At slot 4 a quarter is created in 3 of the 6 slots left; a slice used for retraining starts in 2.
  const StateIndex empty = joint.state_of({kEmptyBundle, kEmptyBundle});
  EXPECT_NEAR(joint.from(SlotIndex(4), empty, models, false), 30, 1e-3);
  EXPECT_NEAR(joint.from(SlotIndex(4), empty, models, true), 40, 1e-3);
}

TEST(JointBound, HoldsWhereAModelIsBetterBeforeItsSwap) {
  Problem problem = quarters_problem(1, 10);
  problem.services[0].variants = {{.accuracy_before = 1, .accuracy_after = 0.5}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .fresh_in = 8, .due_slots = {}};
  EXPECT_GE(bound_of(problem, Variants::kKept, 1), 5 * 10 + 2 * 5);
  EXPECT_NEAR(solve_one_gpu(problem, {}).objective, 5 * 10 + 2 * 5, 1e-9);
}

TEST(JointBound, HoldsForTheExhaustiveSearchWhateverThePrice) {
  int judged = 0;
  for (std::uint64_t seed = 0; judged < kJointBoundJudged; ++seed) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    if (problem.gpus.size() > 1) continue;
    for (ServiceTerms& service : problem.services) service.retraining.reset();
    problem.change_price = static_cast<double>(seed % 5) * problem.services.front().loads.front() / 10;
    const std::optional<Answer> truth = testing::Exhaustive(problem).solve();
    if (!truth || truth->is_infeasible) continue;
    ++judged;
    for (const int block_slots : {1, 2, 3}) {
      EXPECT_GE(bound_of(problem, Variants::kKept, block_slots),
                truth->objective - 1e-9 * (1 + std::abs(truth->objective)));
    }
  }
}

/// For any prices of progress, and any rounding of the times of creating and starting.
TEST(JointBound, HoldsForTheExhaustiveSearchWhereModelsRetrain) {
  static constexpr std::array<double, 5> kCreateSeconds = {0.5, 0, 0.4, 1, 1.7};
  int judged = 0;
  for (std::uint64_t seed = 0; judged < kJointBoundJudged; ++seed) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    const bool retrains = std::ranges::any_of(
        problem.services, [](const ServiceTerms& service) { return service.retraining.has_value(); });
    if (problem.gpus.size() > 1 || !retrains) continue;
    if (seed % 3 == 0) problem.create_seconds = kCreateSeconds[seed / 3 % kCreateSeconds.size()];
    if (seed % 5 == 0) problem.services.front().start_seconds += 0.3;
    const std::optional<Answer> truth = testing::Exhaustive(problem).solve();
    if (!truth || truth->is_infeasible) continue;
    ++judged;
    for (const double scale : {1.0, 0.0, 0.4, 3.0}) {
      EXPECT_GE(bound_of(problem, Variants::kKept, 1, scale),
                truth->objective - 1e-9 * (1 + std::abs(truth->objective)));
    }
  }
}

/// Changes between two boundaries are covered, for each length of blocks.
TEST(JointBound, HoldsForWhatTheSearchFinds) {
  constexpr int kSeeds = berth::testing::by_build(24, 6);
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    Problem problem = one_gpu_problem(Rng(seed), 3, seed % 2 == 0 ? 24 : 60, seed % 3 == 0 ? 2 : 1);
    const bool retrains = seed % 4 == 3;
    for (ServiceTerms& service : problem.services) {
      if (!retrains) service.retraining.reset();
    }
    if (seed % 3 != 2) problem.change_price = solve_one_gpu(problem, {.nodes_max = 100}).objective / 200;
    const Answer found = solve_one_gpu(problem, {.nodes_max = 20'000});
    ASSERT_FALSE(found.is_infeasible);
    for (const int block_slots : {1, 2, 3, 4, 7}) {
      SCOPED_TRACE(fmt::format("one_gpu_problem(Rng({})), blocks of {}", seed, block_slots));
      const double kept = bound_of(problem, Variants::kKept, block_slots);
      EXPECT_GE(kept, found.objective * (1 - 1e-9));
      EXPECT_GE(bound_of(problem, Variants::kFree, block_slots), found.objective * (1 - 1e-9));
    }
  }
}

/// At each change of a schedule, the bound of the rest is at least the schedule's worth from there on.
TEST(JointBound, HoldsFromEachSlotOn) {
  for (std::uint64_t seed = 100; seed < 112 && !HasFailure(); ++seed) {
    Problem problem = one_gpu_problem(Rng(seed), 3, 40);
    for (ServiceTerms& service : problem.services) service.retraining.reset();
    if (seed % 2 == 0) problem.change_price = 100;
    const GpuCase gpu_case(problem);
    const OneGpuSearch search(gpu_case);
    std::vector<BundleIndex> standing;
    for (const ServiceStart& start : search.starts()) standing.push_back(start.bundle);
    JointBound joint(gpu_case, Variants::kKept, kBoundStatesMax);
    joint.compute(4, standing, nullptr);
    // Holding from slot to slot is one of the continuations.
    const StateIndex state = joint.state_of(standing);
    for (SlotIndex t = gpu_case.first_slot; t < problem.slots; ++t) {
      SCOPED_TRACE(fmt::format("seed {}, slot {}", seed, t));
      double served = 0;
      for (std::size_t s = 0; s < standing.size(); ++s) {
        const LevelIndex level = gpu_case.bundles[s].level[standing[s]];
        served += gpu_case.served[s].value(level, true, t, t + 1);
      }
      const double now = joint.from(t, state);
      EXPECT_GE(now, (served + joint.from(t + 1, state)) - 1e-9 * std::abs(now));
    }
  }
}

TEST(JointBound, HoldsWhereASliceIsHandedOverBesideOneThatRetrainingUses) {
  // In slot 5 a quarter goes from one service to another, and a retraining takes one that is dropped; in slot 6 the
  // second service takes that one as well.
  Problem problem = testing::small_problem(Rng(174'093'574'926'759ULL));
  problem.gpus.resize(1);
  problem.change_price = 0;
  const Answer answer = solve_one_gpu(problem, {.nodes_max = 2'000});
  EXPECT_NEAR(answer.objective, 1'000.905, 0.001);
  EXPECT_GE(answer.bound, answer.objective);
}

}  // namespace
}  // namespace berth::planner
