#include "planner/one_gpu/detail/deals_by_states.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/deals.h"

namespace berth::planner {
namespace {

using testing::rounding_of;
using testing::TinySearch;

constexpr int kDealsByStatesSeeds = berth::testing::by_build(300, 40);

/// The deals under limits; those left out are worth at most the bound in the draft or the budget.
std::vector<Deal> checked_deals(TinySearch& search, const Branch& branch, const PassLimits& limits) {
  DealsByStates by_states(search.state, search.change_bound);
  search.state.budget.begin(limits);
  const double slack = branch.bound - search.state.cutoff();
  Draft draft(slack, limits.changes_max);
  by_states.add_to(draft, branch);
  double least = std::max(search.state.cutoff(), search.state.budget.left_out());
  if (draft.is_cut()) least = std::max(least, branch.bound - draft.slack());
  std::vector<Deal> deals = draft.take();
  testing::expect_sound(search, branch, slack, deals);
  EXPECT_LE(testing::best_without(search, branch, deals), least + rounding_of(least));
  return deals;
}

TEST(DealsByStates, LeaveOutWhatTheBudgetKnows) {
  int fewer = 0;
  int found = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kDealsByStatesSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}, label {}", seed, branch.slot, branch.label));
      if (search.state.bound.bounding() != Bounding::kJoint) return;
      const std::vector<Deal> all = checked_deals(search, branch, testing::kUnlimited);
      EXPECT_EQ(search.state.budget.left_out(), kNever);
      for (const int changes_max : {1, 2, 4}) {
        PassLimits limits = testing::kUnlimited;
        limits.changes_max = changes_max;
        const std::vector<Deal> some = checked_deals(search, branch, limits);
        EXPECT_LE(some.size(), ix(changes_max));
        if (some.size() < all.size()) ++fewer;
        if (!some.empty()) ++found;
      }
    });
  }
  EXPECT_GT(fewer, 0);
  EXPECT_GT(found, 0);
}

TEST(DealsByStates, StopWhereTheNodesAreSpent) {
  int stopped = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kDealsByStatesSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      if (search.state.bound.bounding() != Bounding::kJoint) return;
      PassLimits limits = testing::kUnlimited;
      limits.nodes_max = 2;
      const std::size_t found = checked_deals(search, branch, limits).size();
      EXPECT_LE(found, 2U);
      if (found < checked_deals(search, branch, testing::kUnlimited).size()) ++stopped;
    });
  }
  EXPECT_GT(stopped, 0);
}

TEST(DealsByStatesDeathTest, RequireAJointBoundAlone) {
  const Problem problem = testing::quarters_problem(1, 4);
  TinySearch search(problem);
  search.state.bound.use(search.bounds.prices);
  search.state.restart_pass(testing::kUnlimited);
  DealsByStates by_states(search.state, search.change_bound);
  Draft draft(1, 1);
  EXPECT_DEATH(by_states.add_to(draft, {.label = LabelIndex(0), .slot = SlotIndex(0), .bound = 1}), "kJoint");
}

}  // namespace
}  // namespace berth::planner
