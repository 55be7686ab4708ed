#include "engine/loop/fleet_after.h"

#include <gtest/gtest.h>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;

/// GPU 0 holds 1g@0 and 2g@2, which is leaving; GPU 1 holds 3g@4.
Snapshot standing_fleet() {
  Snapshot snapshot;
  snapshot.slices = {
      {.holding = held(slice_at(0, "1g.10gb", 0), {{0}}), .point = PointChoice{.batch = 4}, .is_ready = true},
      {.holding = held(slice_at(0, "2g.20gb", 2), {{1}}), .is_leaving = true},
      {.holding = held(slice_at(1, "3g.40gb", 4), {{1}}), .is_ready = false},
  };
  return snapshot;
}

TEST(FleetAfter, BeginsWithTheSlicesThatStay) {
  const FleetAfter fleet(standing_fleet());
  const std::map<Slice, Allocation> expected = {
      {slice_at(0, "1g.10gb", 0),
       {.holding = held(slice_at(0, "1g.10gb", 0), {{0}}), .point = PointChoice{.batch = 4}}},
      {slice_at(1, "3g.40gb", 4), {.holding = held(slice_at(1, "3g.40gb", 4), {{1}})}},
  };
  EXPECT_EQ(fleet.slices(), expected);
  EXPECT_EQ(fleet.slices_on({1}), std::vector{slice_at(1, "3g.40gb", 4)});
  EXPECT_TRUE(fleet.slices_on({2}).empty());
}

TEST(FleetAfter, MayBeginWithTheGpusOfAPlanOnly) {
  Plan plan;
  plan.actions = {create(slice_at(0, "1g.10gb", 1)), destroy(slice_at(0, "1g.10gb", 0))};
  const FleetAfter fleet(standing_fleet(), plan);
  EXPECT_EQ(fleet.slices_on({0}), std::vector{slice_at(0, "1g.10gb", 0)});
  EXPECT_TRUE(fleet.slices_on({1}).empty());
}

TEST(FleetAfter, ActionsApplyOneAfterTheOther) {
  FleetAfter fleet(standing_fleet());
  const Slice one = slice_at(0, "1g.10gb", 0);
  const Slice next = slice_at(0, "1g.10gb", 1);
  EXPECT_TRUE(fleet.apply(create(next)));
  EXPECT_EQ(fleet.slices().at(next), (Allocation{.holding = {.slice = next, .services = {}}}));
  EXPECT_TRUE(fleet.apply(give(held(next, {{1}}))));
  EXPECT_EQ(fleet.slices().at(next).holding.services, (std::vector<ServiceId>{{1}}));
  EXPECT_TRUE(fleet.apply(destroy(one)));
  EXPECT_EQ(fleet.slices_on({0}), std::vector{next});
}

TEST(FleetAfter, ReportsWhichActionsCannotBegin) {
  FleetAfter fleet(standing_fleet());
  EXPECT_FALSE(fleet.apply(create(slice_at(0, "1g.10gb", 0))));
  EXPECT_FALSE(fleet.apply(destroy(slice_at(0, "2g.20gb", 2))));
  EXPECT_FALSE(fleet.apply(give(held(slice_at(1, "1g.10gb", 0), {{0}}))));
}

}  // namespace
}  // namespace berth
