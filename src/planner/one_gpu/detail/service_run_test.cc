#include "planner/one_gpu/detail/service_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"

namespace berth::planner {
namespace {

/// 10 requests per second, all of which a quarter answers: 10 per slot with a fresh model, 4 with a stale one.
Problem problem_of_a_run() {
  Problem problem = testing::quarters_problem(1, 12);
  problem.services[0].variants = {{.accuracy_before = 0.4, .accuracy_after = 1}};
  return problem;
}

/// The bundle of one quarter, with progress of 1/4 per slot.
ServiceRun on_a_quarter(const GpuCase& gpu_case, double progress_rate = 0.25) {
  const Bundles& bundles = gpu_case.bundles[0];
  return {.service = ServiceIndex(0),
          .bundle = bundles.plus(kEmptyBundle, bundles.item(KindIndex(0), 0)),
          .progress_rate = progress_rate};
}

struct OfRun {
  std::string what;
  RetrainingTerms terms;
  ModelState state;  ///< at slot 2
  double value = 0;  ///< of the slots 2 to 9
  ModelState after;  ///< at slot 10
};

const std::vector<OfRun> kRuns = {
    {.what = "a fresh model stays fresh", .terms = {.due_slots = {}}, .state = {}, .value = 80, .after = {}},
    {.what = "done after 3 slots",
     .terms = {.is_stale = true, .due_slots = {}},
     .state = {.is_stale = true, .progress = 0.25},
     .value = 3 * 4 + 5 * 10,
     .after = {.progress = 1}},
    {.what = "then a swap of 2 slots",
     .terms = {.is_stale = true, .due_slots = {}, .swap_slots = 2},
     .state = {.is_stale = true, .progress = 0.25},
     .value = 5 * 4 + 3 * 10,
     .after = {.progress = 1}},
    {.what = "a swap that is over in slot 4",
     .terms = {.is_stale = true, .due_slots = {}},
     .state = {.is_stale = true, .is_done = true, .fresh_from = SlotIndex(4)},
     .value = 2 * 4 + 6 * 10,
     .after = {}},
    {.what = "due in slot 8: half of the next one is made",
     .terms = {.due_slots = {SlotIndex(8)}},
     .state = {},
     .value = 6 * 10 + 2 * 4,
     .after = {.is_stale = true, .progress = 0.5}},
    {.what = "due at the slot after the last",
     .terms = {.due_slots = {SlotIndex(10)}},
     .state = {},
     .value = 80,
     .after = {.is_stale = true}},
    {.what = "due before it begins", .terms = {.due_slots = {SlotIndex(2)}}, .state = {}, .value = 80, .after = {}},
    {.what = "due in slot 4: what is unfinished is lost",
     .terms = {.is_stale = true, .due_slots = {SlotIndex(4)}},
     .state = {.is_stale = true},
     .value = 6 * 4 + 2 * 10,
     .after = {.progress = 1}},
    {.what = "due in slot 4: what is unfinished is kept",
     .terms = {.is_stale = true, .due_slots = {SlotIndex(4)}, .keeps_unfinished = true},
     .state = {.is_stale = true},
     .value = 4 * 4 + 4 * 10,
     .after = {.progress = 1}},
};

TEST(ServiceRun, GoesThroughTheStatesOfAModel) {
  for (const OfRun& each : kRuns) {
    SCOPED_TRACE(each.what);
    Problem problem = problem_of_a_run();
    problem.services[0].retraining = each.terms;
    const GpuCase gpu_case(problem);
    ModelState state = each.state;
    EXPECT_NEAR(advance(gpu_case, on_a_quarter(gpu_case), SlotIndex(2), SlotIndex(10), state), each.value, 1e-9);
    EXPECT_EQ(state.is_stale, each.after.is_stale);
    EXPECT_EQ(state.is_done, each.after.is_done);
    EXPECT_NEAR(state.progress, each.after.progress, 1e-9);
  }
}

TEST(ServiceRun, CountsProgressFromElsewhere) {
  Problem problem = problem_of_a_run();
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  problem.services[0].outside_progress.assign(12, 0);
  problem.services[0].outside_progress[3] = 0.5;
  const GpuCase gpu_case(problem);
  ModelState state{.is_stale = true};
  // 0.125 in each slot, and 0.5 more in slot 3: done at the end of slot 5.
  EXPECT_NEAR(advance(gpu_case, on_a_quarter(gpu_case, 0.125), SlotIndex(2), SlotIndex(5), state), 3 * 4, 1e-9);
  EXPECT_NEAR(state.progress, 0.875, 1e-12);
  EXPECT_NEAR(advance(gpu_case, on_a_quarter(gpu_case, 0.125), SlotIndex(5), SlotIndex(8), state), 4 + 2 * 10, 1e-9);
  EXPECT_FALSE(state.is_stale);
}

TEST(ServiceRun, IsFreshWhereTheServiceNeverRetrains) {
  const Problem problem = problem_of_a_run();
  const GpuCase gpu_case(problem);
  ModelState state;
  EXPECT_NEAR(advance(gpu_case, on_a_quarter(gpu_case), SlotIndex(0), SlotIndex(12), state), 120, 1e-9);
  EXPECT_EQ(state, ModelState{});
  EXPECT_EQ(advance(gpu_case, on_a_quarter(gpu_case), SlotIndex(5), SlotIndex(5), state), 0);
}

/// A range computed at once has the worth of its slots one by one, and ends in the same state.
TEST(ServiceRun, IsTheSameSlotBySlot) {
  int finished = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 60))) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Rng rng(seed);
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const auto bundles = static_cast<std::uint64_t>(gpu_case.bundles[service].count());
      const ServiceRun run{.service = service,
                           .bundle = BundleIndex(rng.below(bundles)),
                           .progress_rate = static_cast<double>(rng.below(4)) / 6};
      ModelState whole;
      if (problem.services[service].retraining) whole = first_state(*problem.services[service].retraining);
      ModelState by_slot = whole;
      const bool was_open = whole.is_open();
      const double value = advance(gpu_case, run, SlotIndex(0), gpu_case.end(), whole);
      double sum = 0;
      for (SlotIndex t(0); t < gpu_case.end(); ++t) sum += advance(gpu_case, run, t, t + 1, by_slot);
      ASSERT_NEAR(value, sum, 1e-9 * (1 + std::abs(sum)));
      ASSERT_EQ(whole.is_stale, by_slot.is_stale);
      ASSERT_EQ(whole.is_done, by_slot.is_done);
      ASSERT_NEAR(whole.progress, by_slot.progress, 1e-9);
      if (was_open && !whole.is_open()) ++finished;
    }
  }
  EXPECT_GT(finished, 0);
}

}  // namespace
}  // namespace berth::planner
