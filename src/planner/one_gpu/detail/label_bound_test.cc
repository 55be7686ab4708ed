#include "planner/one_gpu/detail/label_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/bounds.h"
#include "planner/one_gpu/testing/continuations.h"

namespace berth::planner {
namespace {

using testing::CaseBounds;
using testing::Continuations;
using testing::kArrangementsMax;
using testing::rounding_of;

constexpr int kLabelBoundSeeds = berth::testing::by_build(200, 24);

/// A label in a slot, as tests use it.
struct Visited {
  LabelBound& bound;
  Continuations& continuations;
  const Labels& labels;
  const Label& label;
  SlotIndex t;
};

/// Labels of tiny problems, under each legal way of bounding; none begins to retrain in vain, as in the search.
/// Returns how many.
int visit_bounded(const std::function<void(const Visited&)>& visit) {
  int visited = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kLabelBoundSeeds)) {
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    Labels labels(gpu_case, arrangements);
    if (labels.root().value == kNever) continue;
    CaseBounds bounds(gpu_case, 1 + static_cast<int>(seed % 3));
    Continuations continuations(gpu_case, arrangements, labels, testing::RetrainsInVain::kNo);
    if (continuations.all().size() > kArrangementsMax) continue;
    for (const Bounding way : bounds.ways()) {
      LabelBound bound(gpu_case, labels);
      bounds.use(way, bound);
      Rng rng(seed);
      testing::visit_labels(
          gpu_case, labels, continuations, rng, [&](const std::vector<LabelIndex>& there, SlotIndex t) {
            for (const LabelIndex number : there) {
              SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}, label {}", seed, t, number));
              visit(
                  {.bound = bound, .continuations = continuations, .labels = labels, .label = labels[number], .t = t});
              ++visited;
            }
          });
    }
  }
  return visited;
}

TEST(LabelBound, IsNoLessThanTheBestThatALabelCanBecome) {
  int dead = 0;
  int exact = 0;
  const int visited = visit_bounded([&](const Visited& of) {
    const double best = of.continuations.best(of.label, of.t);
    const double bound = of.bound.of(of.label, of.t, true, kNever);
    if (best == kNever) {
      ++dead;
      return;
    }
    EXPECT_GE(bound, best - rounding_of(best));
    if (bound <= best + rounding_of(best)) ++exact;
  });
  EXPECT_GT(visited, 10 * dead);
  EXPECT_GT(exact, 0);
}

TEST(LabelBound, HoldsForALabelThatWaitsIfNothingMayBeTaken) {
  int lower = 0;
  (void)visit_bounded([&](const Visited& of) {
    const double held = of.continuations.best_held(of.label, of.t);
    const double bound = of.bound.of(of.label, of.t, false, kNever);
    const double taking = of.bound.of(of.label, of.t, true, kNever);
    EXPECT_LE(bound, taking);
    if (bound < taking) ++lower;
    if (held != kNever) {
      EXPECT_GE(bound, held - rounding_of(held));
    }
  });
  EXPECT_GT(lower, 0);
}

TEST(LabelBound, IsTheLesserOfTheBounds) {
  int judged = 0;
  (void)visit_bounded([&](const Visited& of) {
    if (!of.bound.has_prices()) return;
    const double alone = of.bound.by_prices(of.label, of.t);
    const double both = of.bound.of(of.label, of.t, true, kNever);
    EXPECT_LE(both, alone);
    if (!of.bound.has_joint()) {
      EXPECT_EQ(both, alone);
      return;
    }
    if (!(both < alone)) return;
    ++judged;
    EXPECT_EQ(of.bound.of(of.label, of.t, true, alone), alone) << "low enough by prices";
  });
  EXPECT_GT(judged, 0);
}

TEST(LabelBound, AtTheEndOfTheWindowIsTheTail) {
  const Problem problem = [] {
    Problem of = testing::quarters_problem(2, 6);
    of.tail_seconds = 3;
    of.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(1), .use = 0}, .ready_in = 0}};
    return of;
  }();
  const GpuCase gpu_case(problem);
  Arrangements arrangements(gpu_case);
  Labels labels(gpu_case, arrangements);
  labels.restart();
  const Label end = labels.stay(labels[LabelIndex(0)], SlotIndex(0), SlotIndex(6));
  CaseBounds bounds(gpu_case);
  for (const Bounding way : bounds.ways()) {
    LabelBound bound(gpu_case, labels);
    bounds.use(way, bound);
    EXPECT_EQ(bound.bounding(), way);
    EXPECT_NEAR(bound.of(end, SlotIndex(6), true, kNever), 6 * 10 + 3 * 10, way == Bounding::kJoint ? 1e-9 : 1e3);
    EXPECT_GE(bound.of(end, SlotIndex(6), true, kNever), 6 * 10 + 3 * 10 - 1e-9);
  }
}

/// One service, which retrains if `retrains`.
Problem problem_of_one(bool retrains) {
  Problem problem = testing::quarters_problem(1, 4);
  if (retrains) problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  return problem;
}

TEST(LabelBound, ForgetsWhatItUsed) {
  const Problem problem = problem_of_one(false);
  const GpuCase gpu_case(problem);
  Arrangements arrangements(gpu_case);
  const Labels labels(gpu_case, arrangements);
  CaseBounds bounds(gpu_case);
  LabelBound bound(gpu_case, labels);
  EXPECT_EQ(bound.bounding(), Bounding::kNone);
  bound.use(bounds.joint);
  bound.use(bounds.joint);  // recomputed
  EXPECT_EQ(bound.bounding(), Bounding::kJoint);
  EXPECT_EQ(bound.joint_state(ArrangementIndex(0), {Share{}}), bounds.joint.state_of({kEmptyBundle}));
  bound.forget();
  EXPECT_EQ(bound.bounding(), Bounding::kNone);
  bound.use(bounds.prices);
  EXPECT_EQ(bound.bounding(), Bounding::kPrices);
}

TEST(LabelBoundDeathTest, IsUsedInTheLegalOrder) {
  const Problem stale_problem = problem_of_one(true);
  const GpuCase stale(stale_problem);
  const Problem fresh_problem = problem_of_one(false);
  const GpuCase fresh(fresh_problem);
  Arrangements arrangements(stale);
  Labels labels(stale, arrangements);
  labels.restart();
  CaseBounds stale_bounds(stale);
  CaseBounds fresh_bounds(fresh);
  LabelBound none(stale, labels);
  EXPECT_DEATH((void)none.of(labels[LabelIndex(0)], SlotIndex(0), true, kNever), "kNone");
  EXPECT_DEATH(none.use(stale_bounds.joint), "is_always_fresh");
  LabelBound priced(stale, labels);
  priced.use(stale_bounds.prices);
  EXPECT_DEATH(priced.use(stale_bounds.prices), "kNone");
  EXPECT_DEATH(priced.use(fresh_bounds.joint), "is_always_fresh");
  priced.use(stale_bounds.joint);
  EXPECT_EQ(priced.bounding(), Bounding::kBoth);
  EXPECT_DEATH(priced.use(fresh_bounds.joint), "joint_");
}

}  // namespace
}  // namespace berth::planner
