#include "sim/world/slice_table.h"

#include <gtest/gtest.h>

#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::at_ms;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::numbered;
using testing::slice_at;

/// Creating and destroying take 0.5 s each, starting the service 5 s.
class SliceTableTest : public ::testing::Test {
 protected:
  void act(std::vector<Action> actions, Instant now) {
    run_to(now);
    Plan plan;
    plan.actions = std::move(actions);
    table_.act(plan, now, false);
    settle(now);
  }
  /// Carries out what is due until `until`, and answers at once for what drains.
  void run_to(Instant until) {
    while (table_.next_time() <= until) {
      const Instant now = table_.next_time();
      table_.tick(now);
      settle(now);
    }
  }
  void settle(Instant now) {
    for (auto effects = table_.take_effects(); !effects.empty(); effects = table_.take_effects()) {
      for (const SliceEffect& effect : effects) {
        if (effect.kind == SliceEffect::Kind::kStop) table_.drained(effect.slice, now);
      }
    }
    for (Event& event : table_.take_events()) events_.push_back(std::move(event));
  }
  /// A fault of GPU 0.
  void inject(FaultKind kind, std::optional<std::int64_t> times = 1, Micros duration = {}) {
    table_.faults().add(table_.faults().next_id(),
                        {.kind = kind, .gpus = {{0}}, .times = times, .duration = duration, .profile = {}}, Instant());
  }
  /// Failures since the last call: "creation 1g.10gb@0 #1"; what was seen after them: "sees 1g.10gb@0 #1 ..".
  [[nodiscard]] std::vector<std::string> take_failures() {
    std::vector<std::string> lines;
    const auto named = [](const Slice& slice, std::uint64_t generation) {
      return profile_name(testing::a100(), slice.profile) + "@" + std::to_string(slice.start) + " #" +
             std::to_string(generation);
    };
    for (const Event& event : std::exchange(events_, {})) {
      if (const auto* failed = std::get_if<ActionFailed>(&event.what)) {
        const char* what = failed->kind == ActionKind::kCreation ? "creation " : "destruction ";
        lines.push_back(std::to_string(event.at.micros() / 1000) + " " + what +
                        named(failed->slice, failed->generation));
      }
      if (const auto* observed = std::get_if<GpuObserved>(&event.what)) {
        std::string line = "sees";
        for (const SeenSlice& seen : observed->slices) {
          line += " " + named(seen.slice, seen.generation) + (seen.is_pending ? " pending" : "") +
                  (seen.is_leaving ? " leaving" : "") + (seen.is_foreign ? " foreign" : "");
        }
        lines.push_back(line);
      }
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

  Scenario scenario_ = testing::scenario_of({testing::service_of("s", {{}}, testing::counted({}))}, {}, 4);
  std::vector<std::string> lines_;
  std::vector<Event> events_;
  JournalSink sink_ = [this](const JournalRecord& record) { lines_.push_back(testing::shown(record)); };
  BusyTable busy_{4, 1};
  SliceTable table_{scenario_, sink_, busy_};
};

TEST_F(SliceTableTest, ATimerOfASliceThatIsGoneDoesNothingToItsSuccessor) {
  const Slice old = slice_at(0, "1g.10gb", 0);
  act({create(old), assign(holding_of(old, {0}))}, at_ms(1000));
  act({destroy(old)}, at_ms(2000));  // while it starts: it would have been up at 6.5 s
  run_to(at_ms(2500));
  static_cast<void>(take_lines());

  const Slice next = slice_at(1, "1g.10gb", 3);
  act({create(next), assign(holding_of(next, {0}))}, at_ms(3000));
  EXPECT_EQ(table_.index_count(), 1U);  // the index is used again
  run_to(at_ms(20'000));
  EXPECT_EQ(take_lines(),
            (std::vector<std::string>{"3500000 created 1:1g.10gb@3 s0", "8500000 serving 1:1g.10gb@3 s0"}));
}

TEST_F(SliceTableTest, OrderIsThatOfCreationWhateverTheIndices) {
  const Slice first = slice_at(0, "1g.10gb", 0);
  const Slice second = slice_at(0, "1g.10gb", 1);
  act({create(first), create(second)}, at_ms(1000));
  act({destroy(first), destroy(second)}, at_ms(2000));
  run_to(at_ms(2500));
  static_cast<void>(take_lines());

  // The free indices are taken in another order than they were given; GPUs in falling order, too.
  act({create(slice_at(3, "1g.10gb", 0)), create(slice_at(2, "1g.10gb", 0)), create(slice_at(1, "1g.10gb", 0))},
      at_ms(3000));
  EXPECT_EQ(table_.index_count(), 3U);
  run_to(at_ms(4000));
  EXPECT_EQ(take_lines(), (std::vector<std::string>{"3500000 created 3:1g.10gb@0", "3500000 created 2:1g.10gb@0",
                                                    "3500000 created 1:1g.10gb@0"}));
}

TEST_F(SliceTableTest, SlicesThatWaitForRoomBeginInTheOrderOfTheirCreation) {
  act({create(slice_at(0, "full", 0)), create(slice_at(1, "full", 0))}, at_ms(0));
  run_to(at_ms(500));
  static_cast<void>(take_lines());
  act({destroy(slice_at(0, "full", 0)), destroy(slice_at(1, "full", 0)), create(slice_at(1, "1g.10gb", 0)),
       create(slice_at(0, "1g.10gb", 0)), create(slice_at(1, "1g.10gb", 1))},
      at_ms(1000));
  run_to(at_ms(3000));
  EXPECT_EQ(take_lines(), (std::vector<std::string>{"1500000 destroyed 0:full@0", "1500000 destroyed 1:full@0",
                                                    "2000000 created 1:1g.10gb@0", "2000000 created 0:1g.10gb@0",
                                                    "2000000 created 1:1g.10gb@1"}));
}

TEST_F(SliceTableTest, ASliceThatNeverGotRoomGivesItsIndexBack) {
  act({create(slice_at(0, "full", 0))}, at_ms(0));
  for (std::int64_t round = 0; round < 10; ++round) {
    act({create(slice_at(0, "1g.10gb", 0))}, at_ms(1000 + 20 * round));
    act({destroy(slice_at(0, "1g.10gb", 0))}, at_ms(1010 + 20 * round));
  }
  EXPECT_EQ(table_.index_count(), 2U);
  EXPECT_EQ(table_.timer_count(), 0U);
}

// ---- faults

using Lines = std::vector<std::string>;

TEST_F(SliceTableTest, AFailedCreationLeavesItsPlaceFree) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kFailCreate);
  act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(1000));
  run_to(at_ms(9000));
  EXPECT_EQ(take_failures(), (Lines{"1500 creation 1g.10gb@0 #1", "sees"}));
  EXPECT_EQ(take_lines(), Lines{});
  act({numbered(create(slice), 3)}, at_ms(9000));
  run_to(at_ms(10'000));
  EXPECT_EQ(take_failures(), Lines{});
  EXPECT_EQ(take_lines(), Lines{"9500000 created 0:1g.10gb@0"});
}

TEST_F(SliceTableTest, AFailedDestructionLeavesTheSliceUnownedAndFailsWhatWaitsForItsRoom) {
  const Slice slice = slice_at(0, "2g.20gb", 0);
  const Slice in_its_place = slice_at(0, "1g.10gb", 0);
  const Slice beside = slice_at(0, "1g.10gb", 2);
  act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(0));
  run_to(at_ms(10'000));
  inject(FaultKind::kFailDestroy);
  act({numbered(destroy(slice), 3), numbered(create(in_its_place), 4), numbered(create(beside), 5)}, at_ms(10'000));
  run_to(at_ms(20'000));
  EXPECT_EQ(take_failures(),
            (Lines{"10500 creation 1g.10gb@0 #4", "10500 destruction 2g.20gb@0 #1", "sees 2g.20gb@0 #1 1g.10gb@2 #5"}));
  // It can be given away, and be destroyed.
  act({numbered(assign(holding_of(slice, {0})), 6)}, at_ms(20'000));
  run_to(at_ms(30'000));
  act({numbered(destroy(slice), 7)}, at_ms(30'000));
  static_cast<void>(take_lines());
  run_to(at_ms(40'000));
  EXPECT_EQ(take_lines(), Lines{"30500000 destroyed 0:2g.20gb@0 s0"});
}

TEST_F(SliceTableTest, ASliceThatIsReportedAsFailedStandsUnowned) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kReportsFailure, 2);
  act({numbered(create(slice), 1), numbered(assign(holding_of(slice, {0})), 2)}, at_ms(1000));
  run_to(at_ms(9000));
  EXPECT_EQ(take_failures(), (Lines{"1500 creation 1g.10gb@0 #1", "sees 1g.10gb@0 #1"}));
  EXPECT_EQ(take_lines(), Lines{"1500000 created 0:1g.10gb@0"});
  act({numbered(destroy(slice), 3)}, at_ms(9000));
  run_to(at_ms(10'000));
  EXPECT_EQ(take_failures(), (Lines{"9500 destruction 1g.10gb@0 #1", "sees"}));
  EXPECT_EQ(take_lines(), Lines{"9500000 destroyed 0:1g.10gb@0"});
}

TEST_F(SliceTableTest, ASlowActionTakesItsTimeAndIsGivenUpAfterAMinute) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  inject(FaultKind::kSlow, 2, Micros::seconds(60));
  act({numbered(create(slice), 1)}, at_ms(0));
  run_to(at_ms(100'000));
  EXPECT_EQ(take_lines(), Lines{"60000000 created 0:1g.10gb@0"});
  act({numbered(destroy(slice), 2)}, at_ms(100'000));
  run_to(at_ms(200'000));
  EXPECT_EQ(take_lines(), Lines{"160000000 destroyed 0:1g.10gb@0"});
  EXPECT_EQ(take_failures(), Lines{});

  inject(FaultKind::kSlow, 1, Micros::seconds(61));
  act({numbered(create(slice), 3)}, at_ms(200'000));
  run_to(at_ms(300'000));
  EXPECT_EQ(take_failures(), (Lines{"260000 creation 1g.10gb@0 #3", "sees"}));
  EXPECT_EQ(take_lines(), Lines{});  // no late end either
  act({numbered(create(slice), 4)}, at_ms(300'000));
  run_to(at_ms(301'000));
  inject(FaultKind::kSlow, std::nullopt, Micros::seconds(3600));
  act({numbered(destroy(slice), 5)}, at_ms(301'000));
  run_to(at_ms(400'000));
  EXPECT_EQ(take_failures(), (Lines{"361000 destruction 1g.10gb@0 #4", "sees 1g.10gb@0 #4"}));
}

TEST_F(SliceTableTest, ASliceThatIsDestroyedWhileItsCreationFailsIsGone) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  std::int64_t from = 0;
  for (const bool is_created : {false, true}) {
    inject(is_created ? FaultKind::kReportsFailure : FaultKind::kFailCreate);
    act({numbered(create(slice), 1)}, at_ms(from));
    act({numbered(destroy(slice), 2)}, at_ms(from + 200));
    run_to(at_ms(from + 5000));
    const std::string failed = std::to_string(from + 500) + " creation 1g.10gb@0 #1";
    EXPECT_EQ(take_failures(), (Lines{failed, is_created ? "sees 1g.10gb@0 #1 leaving" : "sees"}));
    EXPECT_TRUE(table_.has_room(slice_at(0, "full", 0)));
    from += 10'000;
  }
}

TEST_F(SliceTableTest, ASliceOfOthersTakesRoomUntilItIsCleared) {
  const Slice others = slice_at(0, "1g.10gb", 0);
  const Slice own = slice_at(0, "2g.20gb", 2);
  act({numbered(create(own), 1)}, at_ms(0));
  run_to(at_ms(1000));
  EXPECT_TRUE(table_.has_room(others));
  EXPECT_FALSE(table_.has_room(slice_at(0, "1g.10gb", 3)));
  EXPECT_FALSE(table_.has_room(slice_at(0, "full", 0)));
  // A slice that waits for that room does not get it.
  act({numbered(destroy(own), 2), numbered(create(slice_at(0, "4g.40gb", 0)), 3)}, at_ms(1000));
  table_.add_foreign(others, at_ms(1200));
  settle(at_ms(1200));
  EXPECT_EQ(take_failures(), (Lines{"1200 creation 4g.40gb@0 #3", "sees 1g.10gb@0 #0 foreign 2g.20gb@2 #1 leaving"}));
  run_to(at_ms(2000));
  EXPECT_FALSE(table_.has_room(slice_at(0, "4g.40gb", 0)));
  table_.clear_foreign({0}, at_ms(3000));
  settle(at_ms(3000));
  EXPECT_EQ(take_failures(), Lines{"sees"});
  EXPECT_TRUE(table_.has_room(slice_at(0, "4g.40gb", 0)));
}

}  // namespace
}  // namespace berth::sim
