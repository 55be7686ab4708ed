#include "sim/slice_table.h"

#include <gtest/gtest.h>

#include "sim/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;
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
    static_cast<void>(table_.take_events());
  }
  [[nodiscard]] std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

  Scenario scenario_ = testing::scenario_of({testing::service_of("s", {{}}, testing::counted({}))}, {}, 4);
  std::vector<std::string> lines_;
  JournalSink sink_ = [this](const JournalRecord& record) { lines_.push_back(testing::shown(record)); };
  BusyTable busy_{4, 1};
  SliceTable table_{scenario_, sink_, busy_};
};

Instant at_ms(std::int64_t ms) { return Instant(ms * 1000); }

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

}  // namespace
}  // namespace berth::sim
