#include "engine/loop/facts.h"

#include <gtest/gtest.h>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

const Slice small_standing = slice_at(0, "1g.10gb", 0);
const Slice large = slice_at(0, "3g.40gb", 4);
const Slice two_g_elsewhere = slice_at(1, "2g.20gb", 0);

StandingSlice standing_assigned(const Slice& slice, std::uint64_t assignment) {
  return {.holding = held(slice, {{0}}), .generation = 1, .assignment = assignment};
}

Snapshot undated_snapshot_of(std::vector<StandingSlice> slices) {
  Snapshot snapshot;
  snapshot.services.resize(2);
  snapshot.slices = std::move(slices);
  return snapshot;
}

TEST(Facts, NameTheStayingSlicesOfTheGpusThatThePlanTouches) {
  Snapshot snapshot = undated_snapshot_of(
      {standing_assigned(small_standing, 4), standing_assigned(large, 2), standing_assigned(two_g_elsewhere, 9)});
  Plan plan;
  EXPECT_TRUE(facts_of(snapshot, plan).empty());
  plan.actions = {destroy(large), create(slice_at(0, "1g.10gb", 1))};
  const std::vector<GpuFact> expected = {
      {.gpu = {0}, .slices = {{.slice = small_standing, .number = 4}, {.slice = large, .number = 2}}}};
  EXPECT_EQ(facts_of(snapshot, plan), expected);
  snapshot.slices.change(1).is_leaving = true;
  EXPECT_EQ(facts_of(snapshot, plan)[0].slices.size(), 1U);
}

TEST(Facts, AreBrokenByWhatChangesTheGpuAndByNothingElse) {
  const Scenario scenario = two_gpus();
  const std::vector<StandingSlice> then = {standing_assigned(small_standing, 4), standing_assigned(large, 2),
                                           standing_assigned(two_g_elsewhere, 9)};
  Plan plan;
  plan.actions = {destroy(large)};
  const GpuFact fact = facts_of(undated_snapshot_of(then), plan)[0];
  const auto broken = [&](const std::vector<StandingSlice>& now) {
    return find_broken_fact(scenario, undated_snapshot_of(now), fact).value_or("");
  };
  EXPECT_EQ(broken(then), "");
  EXPECT_EQ(broken({then[0], then[1]}), "");  // another GPU
  std::vector<StandingSlice> ready = then;
  ready[0].is_ready = true;
  EXPECT_EQ(broken(ready), "");
  std::vector<StandingSlice> leaving = then;
  leaving[1].is_leaving = true;
  EXPECT_EQ(broken(leaving), "3g.40gb@4 on gpu-0 is gone");
  EXPECT_EQ(broken({standing_assigned(small_standing, 5), then[1]}), "1g.10gb@0 on gpu-0 was given to others since");
  EXPECT_EQ(broken({then[0], standing_assigned(slice_at(0, "1g.10gb", 2), 1), then[1]}), "1g.10gb@2 on gpu-0 is new");
}

}  // namespace
}  // namespace berth
