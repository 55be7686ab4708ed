/// Slices of services whose programs another process runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

#include "world/slices/outside_driver.h"
#include "world/slices/slice_table.h"
#include "world/slices/testing/scenarios.h"

namespace berth::world {
namespace {

using testing::assign;
using testing::at_ms;
using testing::create;
using testing::destroy;
using ::testing::ElementsAre;
using testing::holding_of;
using ::testing::IsEmpty;
using testing::numbered;
using ::testing::SizeIs;
using testing::slice_at;

Scenario scenario_with_program() {
  ServiceSpec service = testing::service_of("s", {{}}, testing::counted({}));
  service.running.program = ProgramChoice{.template_name = "serve", .parameters = {{"model", "m"}}};
  return testing::scenario_of({service}, {}, 1);
}

class SlicePrograms : public ::testing::Test {
 protected:
  void act(std::vector<Action> actions) {
    Plan plan;
    plan.actions = std::move(actions);
    table_.act(plan, at_ms(0), false);
    settle(table_);
  }
  void settle(SliceTable& table) {
    for (auto effects = table.take_effects(); !effects.empty(); effects = table.take_effects()) {
      for (const SliceEffect& effect : effects) {
        if (effect.kind == SliceEffect::Kind::kStop) table.drained(effect.slice, at_ms(0));
      }
    }
    for (const Event& event : table.take_events()) {
      ready_count_ += std::holds_alternative<SliceReady>(event.what) ? 1 : 0;
    }
  }
  void begin() {
    act({numbered(create(slice_), 1), numbered(assign(holding_of(slice_, {0})), 2)});
    driver_.forget_collected();
    table_.end_device_action({.kind = ActionKind::kCreation, .slice = slice_, .generation = 1, .is_done = true},
                             at_ms(0));
    settle(table_);
  }
  void make_ready() {
    table_.program_ready(slice_, 1, at_ms(0));
    settle(table_);
  }
  void make_gone() {
    table_.program_gone(slice_, 1, at_ms(0));
    settle(table_);
  }

  const Slice slice_ = slice_at(0, "1g.10gb", 0);
  Scenario scenario_ = scenario_with_program();
  int ready_count_ = 0;
  BusyTable busy_{1, 1};
  OutsideDriver driver_;
  SliceTable table_{scenario_, {}, busy_, driver_};
};

TEST_F(SlicePrograms, ASliceServesWhenItsProgramIsReady) {
  begin();
  EXPECT_EQ(table_.next_time(), Instant::never()) << "no time of the scenario counts";
  ASSERT_THAT(table_.program_slices(), SizeIs(1));
  EXPECT_FALSE(table_.program_slices().front().is_ready);
  table_.program_ready(slice_, 9, at_ms(0));
  settle(table_);
  EXPECT_EQ(ready_count_, 0) << "another generation";
  make_ready();
  make_ready();
  EXPECT_EQ(ready_count_, 1);
  EXPECT_TRUE(table_.program_slices().front().is_ready);
}

TEST_F(SlicePrograms, ASliceGoesWhenItsProgramIsGone) {
  begin();
  make_ready();
  act({numbered(destroy(slice_), 3)});
  EXPECT_THAT(driver_.collected(), IsEmpty());
  EXPECT_TRUE(table_.program_slices().front().is_leaving);
  make_gone();
  EXPECT_THAT(driver_.collected(), ElementsAre(DeviceAction{ActionKind::kDestruction, slice_, 1, false}));
  EXPECT_THAT(table_.program_slices(), IsEmpty());
}

TEST_F(SlicePrograms, OneThatStartsIsEndedFirst) {
  begin();
  act({numbered(destroy(slice_), 3)});
  EXPECT_THAT(driver_.collected(), IsEmpty());
  make_gone();
  EXPECT_THAT(driver_.collected(), SizeIs(1));
}

TEST_F(SlicePrograms, AProgramIsRememberedByDevices) {
  begin();
  make_ready();
  EXPECT_EQ(table_.memory_of({0}).slices.front().has_program, true);
  act({numbered(destroy(slice_), 3)});
  OutsideDriver driver;
  BusyTable busy(1, 1);
  SliceTable next(scenario_, {}, busy, driver);
  next.resume({table_.memory_of({0})}, at_ms(0));
  EXPECT_THAT(driver.collected(), IsEmpty()) << "it may still run";
  ASSERT_THAT(next.program_slices(), SizeIs(1));
  next.program_gone(slice_, 1, at_ms(0));
  EXPECT_THAT(driver.collected(), SizeIs(1));
}

TEST_F(SlicePrograms, WithoutRunNothingChanges) {
  scenario_.services[0].running.program.reset();
  begin();
  EXPECT_THAT(table_.program_slices(), IsEmpty());
  EXPECT_NE(table_.next_time(), Instant::never());
  EXPECT_FALSE(table_.memory_of({0}).slices.front().has_program);
}

TEST_F(SlicePrograms, AServiceMayGetRunWhileItServes) {
  const auto program = scenario_.services[0].running.program;
  scenario_.services[0].running.program.reset();
  begin();
  table_.tick(table_.next_time());
  scenario_.services[0].running.program = program;
  ASSERT_THAT(table_.program_slices(), SizeIs(1));
  EXPECT_TRUE(table_.program_slices().front().is_ready);
  scenario_.services[0].running.program.reset();
  EXPECT_TRUE(table_.program_slices().front().is_leaving) << "its program is to end; the slice stays";
}

}  // namespace
}  // namespace berth::world
