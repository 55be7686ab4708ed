/// Slices whose creations and destructions are carried out outside the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
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
using testing::slice_at;

class DeviceActions : public ::testing::Test {
 protected:
  void act(std::vector<Action> actions, Instant now) {
    Plan plan;
    plan.actions = std::move(actions);
    table_.act(plan, now, false);
    settle(now);
  }
  void create_owned(const Slice& slice, std::uint64_t number, Instant now) {
    act({numbered(create(slice), number), numbered(assign(holding_of(slice, {0})), number + 1)}, now);
  }
  void end(ActionKind kind, const Slice& slice, std::uint64_t generation, bool is_done, Instant now) {
    table_.end_device_action(
        {.kind = kind, .slice = slice, .generation = generation, .is_done = is_done, .message = "in use by pid 7"},
        now);
    settle(now);
  }
  /// How the creation of slice_ ended is unknown.
  void end_unknown(Instant now) {
    table_.end_device_action(
        {.kind = ActionKind::kCreation, .slice = slice_, .generation = 1, .is_known = false, .message = "no end"}, now);
    settle(now);
  }
  /// The actions that devices get now.
  static std::vector<DeviceAction> given_out(OutsideDriver& driver, SliceTable& table) {
    std::vector<DeviceAction> actions = driver.collected();
    driver.forget_collected();
    std::erase_if(actions, [&](const DeviceAction& action) { return !table.awaits(action); });
    for (const DeviceAction& action : actions) table.mark_ordered(action);
    return actions;
  }
  std::vector<DeviceAction> given_out() { return given_out(driver_, table_); }
  void settle(Instant now) {
    for (auto effects = table_.take_effects(); !effects.empty(); effects = table_.take_effects()) {
      for (const SliceEffect& effect : effects) {
        if (effect.kind == SliceEffect::Kind::kStop) table_.drained(effect.slice, now);
      }
    }
    for (Event& event : table_.take_events()) events_.push_back(std::move(event));
  }
  template <class What>
  std::vector<What> take() {
    std::vector<What> found;
    for (const Event& event : std::exchange(events_, {})) {
      if (const auto* what = std::get_if<What>(&event.what)) found.push_back(*what);
    }
    return found;
  }
  /// The table of the next process, with what the devices remember now.
  void restart(Instant now) {
    std::vector<DeviceMemory> memory = {table_.memory_of({0}), table_.memory_of({1})};
    next_.resume(memory, now);
  }

  const Slice slice_ = slice_at(0, "1g.10gb", 0);
  const Slice large_ = slice_at(0, "7g.80gb", 0);
  Scenario scenario_ = testing::scenario_of({testing::service_of("s", {{}}, testing::counted({}))}, {}, 2);
  std::vector<Event> events_;
  BusyTable busy_{2, 1};
  OutsideDriver driver_;
  SliceTable table_{scenario_, {}, busy_, driver_};
  BusyTable next_busy_{2, 1};
  OutsideDriver next_driver_;
  SliceTable next_{scenario_, {}, next_busy_, next_driver_};
};

TEST_F(DeviceActions, AreGivenOutOnceAndTakeTheirTime) {
  create_owned(slice_, 1, at_ms(0));
  EXPECT_THAT(given_out(), ElementsAre(DeviceAction{ActionKind::kCreation, slice_, 1, false}));
  EXPECT_THAT(given_out(), IsEmpty());
  EXPECT_EQ(table_.next_time(), Instant::never());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(70));
  EXPECT_EQ(table_.next_time(), at_ms(5070));  // the service starts
  table_.tick(at_ms(5070));
  settle(at_ms(5070));
  EXPECT_EQ(take<SliceReady>().size(), 1U);
}

TEST_F(DeviceActions, WhatNeedsRoomIsGivenOutWhenThereIsRoom) {
  act({numbered(create(large_), 1)}, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, large_, 1, true, at_ms(10));
  act({numbered(destroy(large_), 2), numbered(create(slice_), 3)}, at_ms(20));
  EXPECT_THAT(given_out(), ElementsAre(DeviceAction{ActionKind::kDestruction, large_, 1, false}));
  end(ActionKind::kDestruction, large_, 1, true, at_ms(30));
  EXPECT_THAT(given_out(), ElementsAre(DeviceAction{ActionKind::kCreation, slice_, 3, false}));
  EXPECT_EQ(take<SliceGone>().size(), 1U);
}

TEST_F(DeviceActions, AFailureIsReportedWithItsReason) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 1, false, at_ms(10));
  const auto failed = take<ActionFailed>();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].message, "in use by pid 7");
  EXPECT_THAT(table_.memory_of({0}).slices, IsEmpty());
}

TEST_F(DeviceActions, ADestructionThatFailsLeavesAnUnownedSlice) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(10));
  act({numbered(destroy(slice_), 3)}, at_ms(20));
  EXPECT_EQ(given_out().size(), 1U);
  end(ActionKind::kDestruction, slice_, 1, false, at_ms(30));
  const DeviceMemory memory = table_.memory_of({0});
  ASSERT_EQ(memory.slices.size(), 1U);
  EXPECT_EQ(memory.slices[0].phase, SlicePhase::kUp);
  EXPECT_THAT(memory.slices[0].services, IsEmpty());
}

TEST_F(DeviceActions, EndsThatAreNotAwaitedAreNoNews) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 9, true, at_ms(10));
  end(ActionKind::kDestruction, slice_, 1, true, at_ms(10));
  end(ActionKind::kCreation, slice_at(1, "1g.10gb", 0), 1, true, at_ms(10));
  EXPECT_THAT(take<SliceGone>(), IsEmpty());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(20));
  end(ActionKind::kCreation, slice_, 1, false, at_ms(30));
  EXPECT_THAT(take<ActionFailed>(), IsEmpty());
}

TEST_F(DeviceActions, ThoseOfALostGpuAreNotGivenOut) {
  create_owned(slice_, 1, at_ms(0));
  table_.lose({0}, at_ms(0));
  settle(at_ms(0));
  table_.forget_lost();
  create_owned(slice_at(1, "1g.10gb", 2), 5, at_ms(10));  // its index is used again
  EXPECT_THAT(given_out(), ElementsAre(DeviceAction{ActionKind::kCreation, slice_at(1, "1g.10gb", 2), 5, false}));
}

TEST_F(DeviceActions, TheNextProcessGivesOutWhatHasNotEnded) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  create_owned(slice_at(0, "1g.10gb", 1), 3, at_ms(10));
  restart(at_ms(20));
  EXPECT_THAT(given_out(next_driver_, next_),
              ElementsAre(DeviceAction{ActionKind::kCreation, slice_, 1, true},
                          DeviceAction{ActionKind::kCreation, slice_at(0, "1g.10gb", 1), 3, false}));
}

TEST_F(DeviceActions, WhatDrainedToBeDestroyedIsDestroyedOnceByTheNextProcess) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(70));
  table_.tick(at_ms(5070));
  settle(at_ms(5070));
  Plan plan;
  plan.actions = {numbered(destroy(slice_), 3)};
  table_.act(plan, at_ms(6000), false);  // not settled: it drains
  ASSERT_EQ(table_.memory_of({0}).slices.at(0).phase, SlicePhase::kDraining);
  restart(at_ms(6010));
  EXPECT_THAT(given_out(next_driver_, next_), ElementsAre(DeviceAction{ActionKind::kDestruction, slice_, 1, false}));
}

TEST_F(DeviceActions, OnesThatWereGivenOutAreNotMissingMeanwhile) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  table_.observe({0}, ObservedLayout(), at_ms(10));
  table_.observe({0}, {.slices = {slice_}}, at_ms(20));
  settle(at_ms(20));
  EXPECT_THAT(take<GpuObserved>(), IsEmpty());
}

TEST_F(DeviceActions, ACreationWithAnUnknownEndExistsUntilItIsObservedNotTo) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end_unknown(at_ms(10));
  EXPECT_EQ(take<ActionFailed>().size(), 1U);
  ASSERT_EQ(table_.memory_of({0}).slices.size(), 1U);
  EXPECT_THAT(table_.memory_of({0}).slices[0].services, IsEmpty());
  table_.observe({0}, {.slices = {slice_}}, at_ms(20));
  ASSERT_EQ(table_.memory_of({0}).slices.size(), 1U);
  EXPECT_FALSE(table_.memory_of({0}).slices[0].is_foreign);
  table_.observe({0}, ObservedLayout(), at_ms(30));
  EXPECT_THAT(table_.memory_of({0}).slices, IsEmpty());
}

TEST_F(DeviceActions, ACreationThatEndsLateIsOursWhetherItWasObservedOrNot) {
  std::int64_t ms = 0;
  for (const bool was_seen : {false, true}) {
    create_owned(slice_, 1, at_ms(ms));
    static_cast<void>(given_out());
    end_unknown(at_ms(ms));
    table_.observe({0}, ObservedLayout(), at_ms(ms + 10));
    if (was_seen) table_.observe({0}, {.slices = {slice_}}, at_ms(ms + 20));
    table_.end_device_action(
        {.kind = ActionKind::kCreation, .slice = slice_, .generation = 1, .is_done = true, .is_late = true},
        at_ms(ms + 30));
    settle(at_ms(ms + 30));
    const auto seen = take<GpuObserved>();
    ASSERT_FALSE(seen.empty());
    EXPECT_THAT(seen.back().slices, ElementsAre(SeenSlice{.slice = slice_, .generation = 1}));
    table_.observe({0}, ObservedLayout(), at_ms(ms + 40));
    ms += 100;
  }
}

TEST_F(DeviceActions, OrphansAreTakenFromTheirHoldersAndDestroyed) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(10));
  table_.observe({0}, {.slices = {slice_}, .orphans = {slice_}}, at_ms(20));
  settle(at_ms(20));
  EXPECT_THAT(given_out(), ElementsAre(DeviceAction{ActionKind::kDestruction, slice_, 1, false}));
  const auto seen = take<GpuObserved>();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_THAT(seen[0].slices, ElementsAre(SeenSlice{.slice = slice_, .generation = 1, .is_leaving = true}));
  table_.observe({0}, {.slices = {slice_}, .orphans = {slice_}}, at_ms(25));  // it is being destroyed already
  EXPECT_THAT(given_out(), IsEmpty());
  end(ActionKind::kDestruction, slice_, 1, true, at_ms(30));
  EXPECT_THAT(table_.memory_of({0}).slices, IsEmpty());
}

TEST_F(DeviceActions, APlanThatIsNotPossibleOnAGpuFailsThereActionByAction) {
  const Slice second = slice_at(0, "1g.10gb", 1);
  const Slice third = slice_at(0, "1g.10gb", 2);
  const Slice elsewhere = slice_at(1, "1g.10gb", 0);
  act({numbered(create(slice_), 1), numbered(create(second), 2), numbered(create(third), 3)}, at_ms(0));
  for (const auto& [slice, number] : {std::pair(slice_, 1), {second, 2}, {third, 3}}) {
    end(ActionKind::kCreation, slice, static_cast<std::uint64_t>(number), true, at_ms(10));
  }
  act({numbered(destroy(third), 4)}, at_ms(20));
  static_cast<void>(take<SliceReady>());
  Plan plan;
  const Slice fourth = slice_at(0, "1g.10gb", 3);
  plan.actions = {numbered(destroy(slice_), 5),
                  numbered(destroy(third), 6),
                  numbered(create(fourth), 7),
                  numbered(assign(holding_of(fourth, {0})), 8),
                  numbered(assign(holding_of(second, {0})), 9),
                  numbered(create(elsewhere), 10)};
  const Plan possible = table_.take_possible(plan, at_ms(30));
  ASSERT_EQ(possible.actions.size(), 1U);
  EXPECT_EQ(slice_of(possible.actions[0].what), elsewhere);
  settle(at_ms(30));
  const std::vector<Event> events = events_;
  std::vector<std::tuple<ActionKind, Slice, std::uint64_t, std::uint64_t>> failed;
  for (const ActionFailed& each : take<ActionFailed>()) {
    failed.emplace_back(each.kind, each.slice, each.generation, each.assignment);
  }
  EXPECT_THAT(failed, ElementsAre(std::tuple(ActionKind::kDestruction, slice_, 1, 1),
                                  std::tuple(ActionKind::kCreation, fourth, 7, 8),
                                  std::tuple(ActionKind::kCreation, second, 2, 9)));
  const auto* seen = std::get_if<GpuObserved>(&events.back().what);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->known_number, 9U);
  EXPECT_EQ(seen->slices.size(), 3U);
}

TEST_F(DeviceActions, ForeignOrphansAreLeftAlone) {
  table_.observe({0}, {.slices = {slice_}, .orphans = {slice_}}, at_ms(10));
  EXPECT_THAT(given_out(), IsEmpty());
}

TEST_F(DeviceActions, SlicesOfALostGpuThatIsBackAreAsTheyWere) {
  create_owned(slice_, 1, at_ms(0));
  static_cast<void>(given_out());
  end(ActionKind::kCreation, slice_, 1, true, at_ms(10));
  const Slice others = slice_at(0, "1g.10gb", 3);
  table_.lose({0}, at_ms(20));
  settle(at_ms(20));
  table_.forget_lost();
  table_.observe({0}, {.slices = {slice_, others}}, at_ms(30));
  const auto slices = table_.memory_of({0}).slices;
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_FALSE(slices[0].is_foreign);
  EXPECT_EQ(slices[0].created_as, 1U);
  EXPECT_TRUE(slices[1].is_foreign);
  // Once it was observed to be absent, a slice at its place is foreign.
  table_.observe({0}, ObservedLayout(), at_ms(40));
  table_.observe({0}, {.slices = {slice_}}, at_ms(50));
  ASSERT_EQ(table_.memory_of({0}).slices.size(), 1U);
  EXPECT_TRUE(table_.memory_of({0}).slices[0].is_foreign);
}

}  // namespace
}  // namespace berth::world
