/// A world that is given what exists on its GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "sim/world/testing/scenarios.h"
#include "sim/world/world.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::holding_of;
using ::testing::IsEmpty;
using testing::slice_at;

Scenario one_service() {
  std::vector<ServiceSpec> services = {testing::service_of(
      "s", {{.profile = "1g.10gb"}}, testing::generated(Generator::Kind::kPoisson, Decimal(5), 60))};
  return testing::scenario_of(std::move(services), {}, 2);
}

class ObservedGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Plan plan;
    plan.actions = {create(slice_at(0, "1g.10gb", 0)), assign(holding_of(slice_at(0, "1g.10gb", 0), {0}))};
    world_.act(plan, {}, true);
    static_cast<void>(world_.take_events());
  }

  /// The slices that the engine learns exist there.
  std::vector<SeenSlice> seen_after(const std::vector<Slice>& existing) {
    world_.see_gpu({0}, {.slices = existing}, {});
    std::vector<SeenSlice> seen;
    for (const Event& event : world_.take_events()) {
      if (const auto* observed = std::get_if<GpuObserved>(&event.what)) seen = observed->slices;
    }
    return seen;
  }

  const Slice own_ = slice_at(0, "1g.10gb", 0);
  const Slice others_ = slice_at(0, "2g.20gb", 4);
  World world_{one_service(), 1, {}, {}};
};

TEST_F(ObservedGpuTest, WhatIsKnownIsNoNews) {
  world_.see_gpu({0}, {.slices = {own_}}, {});
  EXPECT_THAT(world_.take_events(), IsEmpty());
}

TEST_F(ObservedGpuTest, OthersComeAndGo) {
  const auto with_others = seen_after({own_, others_});
  ASSERT_EQ(with_others.size(), 2U);
  EXPECT_FALSE(with_others[0].is_foreign);
  EXPECT_EQ(with_others[1].slice, others_);
  EXPECT_TRUE(with_others[1].is_foreign);
  EXPECT_THAT(seen_after({own_, others_}), IsEmpty());
  EXPECT_EQ(seen_after({own_}).size(), 1U);
}

TEST_F(ObservedGpuTest, AMissingSliceIsGoneFromUnderItsHolder) {
  world_.see_gpu({0}, {.slices = {others_}}, {});
  const auto events = world_.take_events();
  ASSERT_EQ(events.size(), 1U);
  const auto& seen = std::get<GpuObserved>(events.front().what).slices;
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen.front().is_foreign);
  EXPECT_EQ(world_.table_sizes().slices, 2U);
}

TEST_F(ObservedGpuTest, WhatFindsNoRoomIsNotBelieved) {
  EXPECT_THAT(seen_after({own_, slice_at(0, "7g.80gb", 0)}), IsEmpty());
}

TEST_F(ObservedGpuTest, GpusAreLostForAReason) {
  world_.lose_gpu({1}, {}, "it is not in this machine");
  const auto events = world_.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<GpuLost>(events.front().what).reason, "it is not in this machine");
}

TEST(WorldWithoutLoad, KnowsNothingOfSeconds) {
  World world(one_service(), 1, {.has_load = false, .only = {}}, {});
  const Instant end = Instant::at_second(5);
  EXPECT_EQ(world.advance(end), end);
  EXPECT_THAT(world.take_events(), IsEmpty());
}

}  // namespace
}  // namespace berth::sim
