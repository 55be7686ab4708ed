#include "planner/one_gpu/detail/dominance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/continuations.h"

namespace berth::planner {
namespace {

/// Whatever follows, a label that covers another one ends with at least its worth.
TEST(Dominance, CoversWhatLeadsToNoBetterEnd) {
  int covered = 0;
  int in_other_state = 0;
  int compared = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 40))) {
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    Labels labels(gpu_case, arrangements);
    if (labels.root().value == kNever) continue;
    const Dominance dominance(gpu_case, labels);
    testing::Continuations continuations(gpu_case, arrangements, labels, testing::RetrainsInVain::kYes);
    Rng rng(seed);
    const auto compare = [&](const Label& a, const Label& b, SlotIndex t) {
      if (labels.arrangement_of(a).alike != labels.arrangement_of(b).alike) return;
      ++compared;
      if (!dominance.covers(a, b, t)) return;
      ++covered;
      bool is_same = true;
      for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
        is_same = is_same && labels.state_of(a, service) == labels.state_of(b, service);
      }
      if (!is_same) ++in_other_state;
      const double best = continuations.best(b, t);
      if (best == kNever) return;
      EXPECT_GE(continuations.best(a, t), best - 1e-9 * (1 + std::abs(best)))
          << fmt::format("one_gpu_of_tiny({}), slot {}", seed, t);
    };
    testing::visit_labels(gpu_case, labels, continuations, rng, [&](const std::vector<LabelIndex>& there, SlotIndex t) {
      for (const LabelIndex a : there) {
        for (const LabelIndex b : there) {
          if (a != b) compare(labels[a], labels[b], t);
        }
      }
    });
  }
  EXPECT_GT(covered, 0);
  EXPECT_GT(in_other_state, 0);
  EXPECT_GT(compared, covered);
}

/// Of one service, at slot 3: a label that has retrained for two slots on a quarter that it then dropped, and one that
/// has waited. Both serve with the same quarter, and are worth the same.
struct TrainedAndWaited {
  explicit TrainedAndWaited(const Problem& problem)
      : gpu_case(problem), arrangements(gpu_case), labels(gpu_case, arrangements), dominance(gpu_case, labels) {
    labels.restart();
    const Piece serves{.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0};
    const Piece retrains{.site = SiteIndex(1), .service = ServiceIndex(0), .use = kRetraining};
    const LabelIndex root(0);
    Label both = labels.change(labels[root], arrangements.number_of({serves, retrains}), SlotIndex(0)).value();
    both.parent = root;
    const LabelIndex trains = labels.add(both);
    for (SlotIndex t = both.ready; t < 3; ++t) labels.hold(trains, t);
    Label dropped = labels.change(labels[trains], arrangements.number_of({serves}), SlotIndex(3)).value();
    dropped.parent = trains;
    trained = labels.add(dropped);
    for (SlotIndex t(0); t < 3; ++t) labels.hold(root, t);
  }

  [[nodiscard]] bool trained_covers() const { return dominance.covers(labels[trained], labels[waited], SlotIndex(3)); }
  [[nodiscard]] bool waited_covers() const { return dominance.covers(labels[waited], labels[trained], SlotIndex(3)); }

  GpuCase gpu_case;
  Arrangements arrangements;
  Labels labels;
  Dominance dominance;
  LabelIndex trained = LabelIndex(0);
  LabelIndex waited = LabelIndex(0);
};

Problem problem_of_a_stale_model() {
  Problem problem = testing::quarters_problem(1, 8);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0}};
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  return problem;
}

TEST(Dominance, KnowsThatMoreProgressIsNoWorse) {
  const Problem problem = problem_of_a_stale_model();
  const TrainedAndWaited of(problem);
  EXPECT_EQ(of.labels.state_of(of.labels[of.trained], ServiceIndex(0)).progress, 2 / 8.0);
  EXPECT_EQ(of.labels[of.trained].value, of.labels[of.waited].value);
  EXPECT_TRUE(of.trained_covers());
  EXPECT_FALSE(of.waited_covers());
}

TEST(Dominance, NeedsALeadWhereUnfinishedProgressIsWorthSomething) {
  Problem problem = problem_of_a_stale_model();
  problem.services[0].retraining->progress_value = 4;
  TrainedAndWaited of(problem);
  EXPECT_FALSE(of.trained_covers()) << "a fresh model is worth no progress";
  of.labels[of.trained].value += 4;
  EXPECT_TRUE(of.trained_covers());
}

TEST(Dominance, IsUnknownWhereUnfinishedProgressIsKept) {
  Problem problem = problem_of_a_stale_model();
  problem.services[0].retraining->due_slots = {SlotIndex(6)};
  EXPECT_TRUE(TrainedAndWaited(problem).trained_covers()) << "what is unfinished then is lost";
  problem.services[0].retraining->keeps_unfinished = true;
  EXPECT_FALSE(TrainedAndWaited(problem).trained_covers());
}

TEST(Dominance, IsUnknownWhereRetrainingMakesAModelWorse) {
  Problem problem = problem_of_a_stale_model();
  std::swap(problem.services[0].variants[0].accuracy_before, problem.services[0].variants[0].accuracy_after);
  EXPECT_FALSE(TrainedAndWaited(problem).trained_covers());
}

TEST(Dominance, CountsTheBudgetsUsed) {
  Problem problem = problem_of_a_stale_model();
  problem.services[0].changes_max = 2;
  TrainedAndWaited of(problem);
  of.labels[of.trained].value += 1000;
  EXPECT_FALSE(of.trained_covers()) << "it has changed two slices";
}

}  // namespace
}  // namespace berth::planner
