/// A table of slices under injected faults.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/world/fault_book.h"
#include "sim/world/simulated_driver.h"
#include "world/slices/testing/scenarios.h"
#include "world/slices/testing/table_run.h"

namespace berth::sim {
namespace {

using world::testing::assign;
using world::testing::at_ms;
using world::testing::create;
using world::testing::destroy;
using world::testing::holding_of;
using world::testing::numbered;
using world::testing::slice_at;

using Lines = std::vector<std::string>;

/// Creating and destroying take 0.5 s each, starting the service 5 s.
class SliceFaultsTest : public ::testing::Test {
 protected:
  /// A fault of GPU 0.
  void inject(FaultKind kind, std::optional<std::int64_t> times = 1, Micros duration = {}) {
    faults_.add(faults_.next_id(), {.kind = kind, .gpus = {{0}}, .times = times, .duration = duration, .profile = {}},
                Instant());
  }

  Scenario scenario_ =
      world::testing::scenario_of({world::testing::service_of("s", {{}}, world::testing::counted({}))}, {}, 4);
  FaultBook faults_;
  SimulatedDriver driver_{scenario_, faults_};
  world::testing::TableRun run_{scenario_, driver_};
};

TEST_F(SliceFaultsTest, AFailedCreationLeavesItsPlaceFree) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kFailCreate);
  run_.act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(1000));
  run_.run_to(at_ms(9000));
  EXPECT_EQ(run_.take_failures(), (Lines{"1500 creation 1g.10gb@0 #1", "sees"}));
  EXPECT_EQ(run_.take_lines(), Lines{});
  run_.act({numbered(create(slice), 3)}, at_ms(9000));
  run_.run_to(at_ms(10'000));
  EXPECT_EQ(run_.take_failures(), Lines{});
  EXPECT_EQ(run_.take_lines(), Lines{"9500000 created 0:1g.10gb@0"});
}

TEST_F(SliceFaultsTest, AFailedDestructionLeavesTheSliceUnownedAndFailsWhatWaitsForItsRoom) {
  const Slice slice = slice_at(0, "2g.20gb", 0);
  const Slice in_its_place = slice_at(0, "1g.10gb", 0);
  const Slice beside = slice_at(0, "1g.10gb", 2);
  run_.act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(0));
  run_.run_to(at_ms(10'000));
  inject(FaultKind::kFailDestroy);
  run_.act({numbered(destroy(slice), 3), numbered(create(in_its_place), 4), numbered(create(beside), 5)},
           at_ms(10'000));
  run_.run_to(at_ms(20'000));
  EXPECT_EQ(run_.take_failures(),
            (Lines{"10500 creation 1g.10gb@0 #4", "10500 destruction 2g.20gb@0 #1", "sees 2g.20gb@0 #1 1g.10gb@2 #5"}));
  // It can be assigned, and be destroyed.
  run_.act({numbered(assign(holding_of(slice, {0})), 6)}, at_ms(20'000));
  run_.run_to(at_ms(30'000));
  run_.act({numbered(destroy(slice), 7)}, at_ms(30'000));
  static_cast<void>(run_.take_lines());
  run_.run_to(at_ms(40'000));
  EXPECT_EQ(run_.take_lines(), Lines{"30500000 destroyed 0:2g.20gb@0 s0"});
}

TEST_F(SliceFaultsTest, ASliceThatIsReportedAsFailedExistsUnowned) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kReportsFailure, 2);
  run_.act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(1000));
  run_.run_to(at_ms(9000));
  EXPECT_EQ(run_.take_failures(), (Lines{"1500 creation 1g.10gb@0 #1", "sees 1g.10gb@0 #1"}));
  EXPECT_EQ(run_.take_lines(), Lines{"1500000 created 0:1g.10gb@0"});
  run_.act({numbered(destroy(slice), 3)}, at_ms(9000));
  run_.run_to(at_ms(10'000));
  EXPECT_EQ(run_.take_failures(), (Lines{"9500 destruction 1g.10gb@0 #1", "sees"}));
  EXPECT_EQ(run_.take_lines(), Lines{"9500000 destroyed 0:1g.10gb@0"});
}

TEST_F(SliceFaultsTest, ASlowActionTakesItsTimeAndTimesOutAfterAMinute) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kSlow, 2, Micros::seconds(60));
  run_.act({numbered(create(slice), 1)}, at_ms(0));
  run_.run_to(at_ms(100'000));
  EXPECT_EQ(run_.take_lines(), Lines{"60000000 created 0:1g.10gb@0"});
  run_.act({numbered(destroy(slice), 2)}, at_ms(100'000));
  run_.run_to(at_ms(200'000));
  EXPECT_EQ(run_.take_lines(), Lines{"160000000 destroyed 0:1g.10gb@0"});
  EXPECT_EQ(run_.take_failures(), Lines{});

  inject(FaultKind::kSlow, 1, Micros::seconds(61));
  run_.act({numbered(create(slice), 3)}, at_ms(200'000));
  run_.run_to(at_ms(300'000));
  EXPECT_EQ(run_.take_failures(), (Lines{"260000 creation 1g.10gb@0 #3", "sees"}));
  EXPECT_EQ(run_.take_lines(), Lines{});  // no late end either
  run_.act({numbered(create(slice), 4)}, at_ms(300'000));
  run_.run_to(at_ms(301'000));
  inject(FaultKind::kSlow, std::nullopt, Micros::seconds(3600));
  run_.act({numbered(destroy(slice), 5)}, at_ms(301'000));
  run_.run_to(at_ms(400'000));
  EXPECT_EQ(run_.take_failures(), (Lines{"361000 destruction 1g.10gb@0 #4", "sees 1g.10gb@0 #4"}));
}

TEST_F(SliceFaultsTest, ASliceThatIsDestroyedWhileItsCreationFailsIsGone) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  std::int64_t from = 0;
  for (const bool is_created : {false, true}) {
    inject(is_created ? FaultKind::kReportsFailure : FaultKind::kFailCreate);
    run_.act({numbered(create(slice), 1)}, at_ms(from));
    run_.act({numbered(destroy(slice), 2)}, at_ms(from + 200));
    run_.run_to(at_ms(from + 5000));
    const std::string failed = std::to_string(from + 500) + " creation 1g.10gb@0 #1";
    EXPECT_EQ(run_.take_failures(), (Lines{failed, is_created ? "sees 1g.10gb@0 #1 leaving" : "sees"}));
    EXPECT_TRUE(run_.table().has_room(slice_at(0, "full", 0)));
    from += 10'000;
  }
}

}  // namespace
}  // namespace berth::sim
