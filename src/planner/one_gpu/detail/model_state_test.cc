#include "planner/one_gpu/detail/model_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// A service whose progress is all made elsewhere, so that no GPU is involved.
Problem drawn_stale_problem(Rng rng) {
  Problem problem = testing::quarters_problem(1, 4 + static_cast<int>(rng.below(12)));
  ServiceTerms& service = problem.services.front();
  service.variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  RetrainingTerms terms;
  terms.is_stale = rng.below(3) > 0;
  if (terms.is_stale && rng.below(3) == 0) terms.progress = static_cast<double>(rng.below(8)) / 8;
  if (terms.is_stale && rng.below(4) == 0) {
    terms.progress = 0;
    terms.fresh_in = 1 + static_cast<int>(rng.below(4));
  }
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    if (rng.below(6) == 0) terms.due_slots.push_back(slot);
    service.outside_progress.push_back(static_cast<double>(rng.below(4)) / 8);
  }
  terms.keeps_unfinished = rng.below(2) == 0;
  terms.swap_slots = static_cast<int>(rng.below(4));
  terms.progress_value = 100;
  terms.fresh_value = 1000;
  service.retraining = terms;
  return problem;
}

/// The states slot by slot are those of the schedule checker, which has its own code.
TEST(ModelState, GoesThroughTheStatesThatTheCheckerFinds) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(400, 100))) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Problem problem = drawn_stale_problem(Rng(seed));
    const ServiceTerms& service = problem.services.front();
    const RetrainingTerms& terms = *service.retraining;
    const Evaluation truth = evaluate(problem, {.gpus = {{}}});
    ModelState state = first_state(terms);
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
      enter_slot(terms, slot, state);
      ASSERT_EQ(!state.is_stale, truth.services[0][static_cast<std::size_t>(slot)].is_fresh) << "slot " << slot;
      if (state.is_open()) state.progress += service.outside_progress[static_cast<std::size_t>(slot)];
    }
    enter_slot(terms, SlotIndex(problem.slots), state);
    const double wanted = state.is_open() ? terms.progress_value * state.progress : terms.fresh_value;
    EXPECT_NEAR(truth.model_value.front(), wanted, 1e-9);
  }
}

TEST(ModelState, IsFreshAfterTheSwapAndStaleWhenDue) {
  const RetrainingTerms terms{.is_stale = true, .due_slots = {SlotIndex(6)}, .swap_slots = 2};
  ModelState state = first_state(terms);
  enter_slot(terms, SlotIndex(0), state);
  EXPECT_TRUE(state.is_open());
  state.progress = 1;  // in slot 0
  enter_slot(terms, SlotIndex(1), state);
  EXPECT_TRUE(state.is_stale && state.is_done);
  EXPECT_EQ(state.fresh_from, 3);
  enter_slot(terms, SlotIndex(2), state);
  EXPECT_TRUE(state.is_stale);
  enter_slot(terms, SlotIndex(3), state);
  EXPECT_FALSE(state.is_stale || state.is_done);
  enter_slot(terms, SlotIndex(6), state);
  EXPECT_TRUE(state.is_open());
  EXPECT_EQ(state.progress, 0);
}

/// Done and due in the same slot: the due time comes first.
TEST(ModelState, LosesProgressThatIsFullWhenTheNextIsDueUnlessItIsKept) {
  RetrainingTerms terms{.is_stale = true, .progress = 0.9, .due_slots = {SlotIndex(1)}};
  ModelState lost = first_state(terms);
  enter_slot(terms, SlotIndex(0), lost);
  lost.progress = 1;
  enter_slot(terms, SlotIndex(1), lost);
  EXPECT_TRUE(lost.is_open());
  EXPECT_EQ(lost.progress, 0);
  terms.keeps_unfinished = true;
  ModelState kept = first_state(terms);
  enter_slot(terms, SlotIndex(0), kept);
  kept.progress = 1;
  enter_slot(terms, SlotIndex(1), kept);
  EXPECT_FALSE(kept.is_stale);
}

TEST(ModelState, LosesASwapUnderWayWhenTheNextIsDue) {
  const RetrainingTerms terms{.is_stale = true, .fresh_in = 3, .due_slots = {SlotIndex(2)}, .keeps_unfinished = true};
  ModelState state = first_state(terms);
  EXPECT_FALSE(state.is_open());
  enter_slot(terms, SlotIndex(1), state);
  EXPECT_FALSE(state.is_open());
  enter_slot(terms, SlotIndex(2), state);
  EXPECT_TRUE(state.is_open());
  EXPECT_EQ(state.progress, 0);
}

}  // namespace
}  // namespace berth::planner
