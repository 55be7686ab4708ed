/// Properties of the deals of a draft, however they were found.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "planner/one_gpu/testing/tiny_search.h"

namespace berth::planner::testing {

/// Each deal has the loss given by the bound of its change and shares that fit and differ from the label's, and occurs
/// once.
inline void expect_sound(TinySearch& search, const Branch& branch, double slack, const std::vector<Deal>& deals) {
  std::set<std::vector<Share>> all;
  for (const Deal& deal : deals) {
    EXPECT_LT(deal.loss, slack);
    EXPECT_EQ(deal.loss, branch.bound - search.change_bound.of(branch.label, branch.slot, deal.shares));
    EXPECT_NE(deal.shares, search.state.labels.arrangement_of(search.state.labels[branch.label]).shares);
    EXPECT_TRUE(all.insert(deal.shares).second);
    RoomIndex room = kEmptyRoom;
    for (const ServiceIndex service : indices_of<ServiceIndex>(deal.shares)) {
      const Share& share = deal.shares[service];
      room = search.gpu_case.rooms.join(room, search.gpu_case.bundles[service].room[share.bundle]);
      ASSERT_NE(room, kNoRoom);
      if (share.retraining_kind >= 0) room = search.gpu_case.rooms.add(room, share.retraining_kind);
      ASSERT_NE(room, kNoRoom);
    }
  }
}

/// The best worth of changes that are not among the deals.
[[nodiscard]] inline double best_without(TinySearch& search, const Branch& branch, const std::vector<Deal>& deals) {
  return best_deal(search, branch, [&](const std::vector<Share>& shares) {
    return std::ranges::find(deals, shares, &Deal::shares) == deals.end();
  });
}

}  // namespace berth::planner::testing
