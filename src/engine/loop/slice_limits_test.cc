#include "engine/loop/slice_limits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

const Slice kSmallSlice = slice_at(0, "1g.10gb", 0);
const Slice kLargeSlice = slice_at(0, "3g.40gb", 4);
const Slice kOtherSlice = slice_at(1, "1g.10gb", 2);

/// Service a has three slices, the largest of them first ready; b has none.
struct LimitedWorld {
  Scenario scenario = testing::two_gpus();
  Snapshot snapshot;

  LimitedWorld() {
    snapshot.now = Instant::at_second(100);
    snapshot.has_first_layout = true;
    snapshot.services.resize(2);
    snapshot.slices = {{.holding = held(kSmallSlice, {{0}}), .is_ready = true},
                       {.holding = held(kLargeSlice, {{0}}), .is_ready = true},
                       {.holding = held(kOtherSlice, {{0}}), .is_ready = false}};
  }
  [[nodiscard]] std::vector<Slice> destroyed(std::int64_t slices_max) {
    scenario.services[0].running.replicas = ReplicaLimits{.slices_min = 0, .slices_max = slices_max};
    Plan plan;
    destroy_excess(scenario, snapshot, {ServiceId{0}}, [](ServiceId) { return std::string("why"); }, plan);
    EXPECT_EQ(plan.is_ordered, !plan.actions.empty());
    std::vector<Slice> slices;
    for (const Action& action : plan.actions) {
      EXPECT_TRUE(std::holds_alternative<DestroySlice>(action.what));
      EXPECT_EQ(action.reason.text, "why");
      slices.push_back(slice_of(action.what));
    }
    return slices;
  }
};

TEST(SliceLimits, TheCheapestReadySlicesStay) {
  LimitedWorld world;
  EXPECT_EQ(world.destroyed(3), std::vector<Slice>());
  EXPECT_EQ(world.destroyed(2), std::vector<Slice>({kOtherSlice}));
  EXPECT_EQ(world.destroyed(1), (std::vector<Slice>({kLargeSlice, kOtherSlice})));
  EXPECT_EQ(world.destroyed(0), (std::vector<Slice>({kSmallSlice, kLargeSlice, kOtherSlice})));
}

TEST(SliceLimits, PinsAndClosedGpusAndFrozenWindowsAreLeft) {
  LimitedWorld world;
  world.scenario.services[0].pins = {Pin{kLargeSlice}};
  EXPECT_EQ(world.destroyed(1), (std::vector<Slice>({kSmallSlice, kOtherSlice})));
  world.snapshot.gpus.resize(1);
  world.snapshot.gpus[0].scheduling = GpuScheduling::kCordoned;
  EXPECT_EQ(world.destroyed(1), std::vector<Slice>({kOtherSlice}));
  world.scenario.frozen = {{.from = Instant(), .until = Instant::at_second(1000)}};
  EXPECT_EQ(world.destroyed(1), std::vector<Slice>());
}

}  // namespace
}  // namespace berth
