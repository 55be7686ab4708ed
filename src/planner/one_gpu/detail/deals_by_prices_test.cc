#include "planner/one_gpu/detail/deals_by_prices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/deals.h"

namespace berth::planner {
namespace {

using testing::rounding_of;
using testing::TinySearch;

constexpr int kDealsByPricesSeeds = berth::testing::by_build(200, 20);

/// For any limit on the deals kept: those left out lead to nothing better than the draft's bound.
TEST(DealsByPrices, LeaveOutWhatLosesTheSlack) {
  int complete = 0;
  int cut = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kDealsByPricesSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}, label {}", seed, branch.slot, branch.label));
      if (!search.state.bound.has_prices()) return;
      DealsByPrices by_prices(search.state, search.change_bound, search.options);
      for (const int deals_max : {1, 4, 1 << 29}) {
        const double slack = branch.bound - search.state.cutoff();
        Draft draft(slack, deals_max);
        by_prices.add_to(draft, branch);
        const double least = draft.is_cut() ? branch.bound - draft.slack() : search.state.cutoff();
        if (deals_max == 1 << 29) {
          EXPECT_FALSE(draft.is_cut());
        }
        const std::vector<Deal> deals = draft.take();
        testing::expect_sound(search, branch, slack, deals);
        EXPECT_LE(testing::best_without(search, branch, deals), least + rounding_of(least));
        ++(draft.is_cut() ? cut : complete);
      }
    });
  }
  EXPECT_GT(complete, 0);
  EXPECT_GT(cut, 0);
}

TEST(DealsByPrices, StopWhereTheNodesAreSpent) {
  int stopped = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kDealsByPricesSeeds)) {
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      if (!search.state.bound.has_prices()) return;
      DealsByPrices by_prices(search.state, search.change_bound, search.options);
      PassLimits limits = testing::kUnlimited;
      limits.nodes_max = 2;
      search.state.budget.begin(limits);
      Draft draft(branch.bound - search.state.cutoff(), limits.changes_max);
      by_prices.add_to(draft, branch);
      search.state.budget.begin(testing::kUnlimited);
      const bool is_cut = draft.is_cut();
      const std::size_t found = draft.take().size();
      EXPECT_LE(found, 2U);
      if (!is_cut) return;
      EXPECT_EQ(draft.slack(), 0);
      ++stopped;
    });
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace berth::planner
