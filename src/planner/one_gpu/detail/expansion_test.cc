#include "planner/one_gpu/detail/expansion.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/pool.h"
#include "planner/one_gpu/testing/tiny_search.h"

namespace berth::planner {
namespace {

using testing::rounding_of;
using testing::TinySearch;

constexpr int kExpansionSeeds = berth::testing::by_build(200, 20);

PassLimits limited(int changes_max, int placings_max, bool is_from_pool = false) {
  PassLimits limits = testing::kUnlimited;
  limits.changes_max = changes_max;
  limits.placings_max = placings_max;
  limits.is_from_pool = is_from_pool;
  return limits;
}

PassLimits without_moves() {
  PassLimits limits = testing::kUnlimited;
  limits.with_moves = false;
  return limits;
}

/// The labels that an expansion added; each must be in the list of the slot in which it arrives.
std::vector<LabelIndex> arrived(const SearchState& state, LabelIndex first) {
  std::vector<LabelIndex> labels(state.arrived_now);
  for (const std::vector<LabelIndex>& of_slot : state.arrivals)
    labels.insert(labels.end(), of_slot.begin(), of_slot.end());
  std::ranges::sort(labels);
  std::vector<LabelIndex> added;
  for (LabelIndex label = first; label < state.labels.count(); ++label) added.push_back(label);
  EXPECT_EQ(labels, added);
  for (const LabelIndex label : state.arrived_now) EXPECT_EQ(state.labels[label].ready, state.labels[label].begin);
  for (const SlotIndex t : indices_of<SlotIndex>(state.arrivals)) {
    for (const LabelIndex label : state.arrivals[t]) EXPECT_EQ(state.labels[label].ready, t);
  }
  return added;
}

/// The best result of an expansion: of the labels added, and of a schedule that it completed.
double reached(TinySearch& search, const Branch& branch, LabelIndex first, double cutoff) {
  const SearchState& state = search.state;
  double best = state.incumbent.value();
  for (const LabelIndex number : arrived(state, first)) {
    const Label child = state.labels[number];
    EXPECT_EQ(child.parent, branch.label);
    EXPECT_EQ(child.begin, branch.slot);
    EXPECT_GT(child.bound, cutoff);
    EXPECT_LE(child.bound, state.labels[branch.label].bound);
    const bool is_at_once = child.ready == branch.slot;
    const double value =
        is_at_once ? search.continuations.best_held(child, child.ready) : search.continuations.best(child, child.ready);
    EXPECT_GE(child.bound, value - rounding_of(value));
    best = std::max(best, value);
  }
  return best;
}

struct Expanded {
  double reached = 0;   ///< by the labels added and the schedules completed
  double left_out = 0;  ///< the budget's bound for the others
  double cutoff = 0;    ///< after the expansion
};

/// Expands a label, and then forgets the schedules found, so that the next expansion finds the same.
Expanded expand(TinySearch& search, const Branch& branch, Expansion& expansion, const PassLimits& limits) {
  SearchState& state = search.state;
  const Incumbent known = state.incumbent;
  for (std::vector<LabelIndex>& of_slot : state.arrivals) of_slot.clear();
  state.arrived_now.clear();
  state.budget.begin(limits);
  const LabelIndex first(state.labels.count());
  expansion.expand(branch.label, branch.slot);
  const Expanded result{.reached = reached(search, branch, first, known.cutoff()),
                        .left_out = state.budget.left_out(),
                        .cutoff = state.cutoff()};
  state.incumbent = known;
  return result;
}

TEST(Expansion, ReachesTheBestChangeOrKnowsWhatItLeavesOut) {
  int left_out = 0;
  int found = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kExpansionSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}, label {}", seed, branch.slot, branch.label));
      Expansion expansion(search.state);
      expansion.restart();
      const double best = testing::best_change(search, branch, [](const std::vector<Share>&) { return true; });
      const Expanded all = expand(search, branch, expansion, testing::kUnlimited);
      EXPECT_EQ(all.left_out, kNever);
      EXPECT_GE(std::max(all.reached, all.cutoff), best - rounding_of(best));
      if (best > search.state.cutoff()) ++found;
      for (const PassLimits& limits : {limited(1, 1), limited(3, 2), limited(1 << 29, 1), without_moves()}) {
        const Expanded some = expand(search, branch, expansion, limits);
        EXPECT_GE(std::max({some.reached, some.cutoff, some.left_out}), best - rounding_of(best));
        if (some.left_out > some.cutoff) ++left_out;
      }
    });
  }
  EXPECT_GT(left_out, 0);
  EXPECT_GT(found, 0);
}

TEST(Expansion, TriesTheChangesOfThePool) {
  int found = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kExpansionSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}, label {}", seed, branch.slot, branch.label));
      Expansion expansion(search.state);
      expansion.restart();
      const std::vector<std::vector<Share>> pool = make_pool(search.gpu_case, search.bounds.prices.prices());
      expansion.set_pool(pool);
      const double best = testing::best_deal(search, branch, [&](const std::vector<Share>& shares) {
        return std::ranges::find(pool, shares) != pool.end();
      });
      const Expanded from_pool = expand(search, branch, expansion, limited(1 << 29, 1 << 29, true));
      EXPECT_EQ(from_pool.left_out, search.state.labels[branch.label].bound)
          << "there are other changes than those of the pool";
      EXPECT_GE(std::max(from_pool.reached, from_pool.cutoff), best - rounding_of(best));
      if (best > search.state.cutoff()) ++found;
    });
  }
  EXPECT_GT(found, 0);
}

TEST(Expansion, LeavesTheLabelOutWhereTheNodesAreSpent) {
  const Problem problem = testing::quarters_problem(2, 8);
  TinySearch search(problem);
  search.bounds.use(Bounding::kJoint, search.state.bound);
  PassLimits limits = testing::kUnlimited;
  limits.nodes_max = 0;
  search.state.restart_pass(limits);
  const Branch branch = search.branch_of(LabelIndex(0), SlotIndex(0));
  Expansion expansion(search.state);
  expansion.restart();
  const Expanded none = expand(search, branch, expansion, limits);
  EXPECT_EQ(none.left_out, branch.bound);
  EXPECT_EQ(search.state.labels.count(), 1);
  EXPECT_EQ(search.state.budget.nodes(), 0);
}

TEST(ExpansionDeathTest, RequiresASlotInWhichAChangeMayBegin) {
  Problem problem = testing::quarters_problem(1, 4);
  problem.is_frozen = {1, 0, 0, 0};
  TinySearch search(problem);
  search.bounds.use(Bounding::kJoint, search.state.bound);
  search.state.restart_pass(testing::kUnlimited);
  Expansion expansion(search.state);
  EXPECT_DEATH(expansion.expand(LabelIndex(0), SlotIndex(0)), "can_change");
}

}  // namespace
}  // namespace berth::planner
