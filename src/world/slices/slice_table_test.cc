#include "world/slices/slice_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "world/slices/testing/scenarios.h"
#include "world/slices/testing/table_run.h"

namespace berth::world {
namespace {

using testing::assign;
using testing::at_ms;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::numbered;
using testing::slice_at;

using Lines = std::vector<std::string>;

/// Creating and destroying take 0.5 s each, starting the service 5 s.
class SliceTableTest : public ::testing::Test {
 protected:
  Scenario scenario_ = testing::scenario_of({testing::service_of("s", {{}}, testing::counted({}))}, {}, 4);
  testing::TimedDriver driver_{scenario_};
  testing::TableRun run_{scenario_, driver_};
};

TEST_F(SliceTableTest, ATimerOfASliceThatIsGoneDoesNothingToItsSuccessor) {
  const Slice old = slice_at(0, "1g.10gb", 0);
  run_.act({create(old), assign(holding_of(old, {0}))}, at_ms(1000));
  run_.act({destroy(old)}, at_ms(2000));  // while it starts: it would have been up at 6.5 s
  run_.run_to(at_ms(2500));
  static_cast<void>(run_.take_lines());

  const Slice next = slice_at(1, "1g.10gb", 3);
  run_.act({create(next), assign(holding_of(next, {0}))}, at_ms(3000));
  EXPECT_EQ(run_.table().index_count(), 1U);  // the index is reused
  run_.run_to(at_ms(20'000));
  EXPECT_EQ(run_.take_lines(), (Lines{"3500000 created 1:1g.10gb@3 s0", "8500000 serving 1:1g.10gb@3 s0"}));
}

TEST_F(SliceTableTest, OrderIsThatOfCreationWhateverTheIndices) {
  const Slice first = slice_at(0, "1g.10gb", 0);
  const Slice second = slice_at(0, "1g.10gb", 1);
  run_.act({create(first), create(second)}, at_ms(1000));
  run_.act({destroy(first), destroy(second)}, at_ms(2000));
  run_.run_to(at_ms(2500));
  static_cast<void>(run_.take_lines());

  // The free indices are reused in another order than they were released; GPUs come in descending order, too.
  run_.act({create(slice_at(3, "1g.10gb", 0)), create(slice_at(2, "1g.10gb", 0)), create(slice_at(1, "1g.10gb", 0))},
           at_ms(3000));
  EXPECT_EQ(run_.table().index_count(), 3U);
  run_.run_to(at_ms(4000));
  EXPECT_EQ(run_.take_lines(),
            (Lines{"3500000 created 3:1g.10gb@0", "3500000 created 2:1g.10gb@0", "3500000 created 1:1g.10gb@0"}));
}

TEST_F(SliceTableTest, SlicesThatWaitForRoomBeginInTheOrderOfTheirCreation) {
  run_.act({create(slice_at(0, "full", 0)), create(slice_at(1, "full", 0))}, at_ms(0));
  run_.run_to(at_ms(500));
  static_cast<void>(run_.take_lines());
  run_.act({destroy(slice_at(0, "full", 0)), destroy(slice_at(1, "full", 0)), create(slice_at(1, "1g.10gb", 0)),
            create(slice_at(0, "1g.10gb", 0)), create(slice_at(1, "1g.10gb", 1))},
           at_ms(1000));
  run_.run_to(at_ms(3000));
  EXPECT_EQ(run_.take_lines(),
            (Lines{"1500000 destroyed 0:full@0", "1500000 destroyed 1:full@0", "2000000 created 1:1g.10gb@0",
                   "2000000 created 0:1g.10gb@0", "2000000 created 1:1g.10gb@1"}));
}

TEST_F(SliceTableTest, ASliceThatNeverGotRoomGivesItsIndexBack) {
  run_.act({create(slice_at(0, "full", 0))}, at_ms(0));
  for (std::int64_t round = 0; round < 10; ++round) {
    run_.act({create(slice_at(0, "1g.10gb", 0))}, at_ms(1000 + 20 * round));
    run_.act({destroy(slice_at(0, "1g.10gb", 0))}, at_ms(1010 + 20 * round));
  }
  EXPECT_EQ(run_.table().index_count(), 2U);
  EXPECT_EQ(run_.table().timer_count(), 0U);
}

TEST_F(SliceTableTest, AForeignSliceTakesRoomUntilItIsCleared) {
  const Slice foreign = slice_at(0, "1g.10gb", 0);
  const Slice own = slice_at(0, "2g.20gb", 2);
  run_.act({numbered(create(own), 1)}, at_ms(0));
  run_.run_to(at_ms(1000));
  EXPECT_TRUE(run_.table().has_room(foreign));
  EXPECT_FALSE(run_.table().has_room(slice_at(0, "1g.10gb", 3)));
  EXPECT_FALSE(run_.table().has_room(slice_at(0, "full", 0)));
  // A slice that waits for that room does not get it.
  run_.act({numbered(destroy(own), 2), numbered(create(slice_at(0, "4g.40gb", 0)), 3)}, at_ms(1000));
  run_.table().add_foreign(foreign, at_ms(1200));
  run_.settle(at_ms(1200));
  EXPECT_EQ(run_.take_failures(),
            (Lines{"1200 creation 4g.40gb@0 #3", "sees 1g.10gb@0 #0 foreign 2g.20gb@2 #1 leaving"}));
  run_.run_to(at_ms(2000));
  EXPECT_FALSE(run_.table().has_room(slice_at(0, "4g.40gb", 0)));
  run_.table().clear_foreign({0}, at_ms(3000));
  run_.settle(at_ms(3000));
  EXPECT_EQ(run_.take_failures(), Lines{"sees"});
  EXPECT_TRUE(run_.table().has_room(slice_at(0, "4g.40gb", 0)));
}

}  // namespace
}  // namespace berth::world
