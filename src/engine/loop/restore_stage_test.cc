#include "engine/loop/restore_stage.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/loop/engine.h"
#include "engine/loop/retire_stage.h"
#include "engine/loop/stages.h"
#include "engine/loop/test_fleet.h"
#include "engine/rivals/layout.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

using Changes = std::vector<SliceChange>;

const Slice kSmall = slice_at(0, "1g.10gb", 0);
const Slice kUnowned = slice_at(0, "1g.10gb", 1);
const Slice kLarge = slice_at(0, "3g.40gb", 4);
const Slice kFar = slice_at(1, "3g.40gb", 0);

/// Two GPUs: a has a small slice on GPU 0 and a large one on GPU 1, b a large one on GPU 0.
Scenario with_layout() {
  Scenario scenario = two_gpus();
  scenario.layout = {held(kSmall, {{0}}), held(kUnowned, {}), held(kLarge, {{1}}), held(kFar, {{0}})};
  return scenario;
}

std::vector<Stage> stages_of(const Scenario& scenario) {
  std::vector<Stage> stages;
  stages.push_back(retire_stage(scenario));
  stages.push_back(
      first_layout_stage("fixed", [&scenario](const Snapshot&) { return partition::fixed_layout(scenario); }));
  stages.push_back(restore_stage(scenario));
  return stages;
}

/// An engine with the stage and a world by hand, from second 0 on, when the first layout is in place. The parameter:
/// whether the engine is discarded after each step and rebuilt from its events.
class Restore : public ::testing::TestWithParam<bool> {
 protected:
  void begin(Scenario scenario) {
    scenario_ = std::move(scenario);
    engine_ = new_engine();
    EXPECT_EQ(plan_at(0).actions.size(), 2 * scenario_.layout->size());
  }

  /// Events before the next step.
  void happens(decltype(Event::what) what) { news_.push_back({.at = now_, .what = std::move(what)}); }

  /// The plan that takes effect at that second; nothing of it is ready.
  Plan plan_at(double second) {
    now_ = Instant(static_cast<std::int64_t>(second * 1e6));
    for (Event& event : news_) event.at = now_;
    StepAnswer answer = step(std::exchange(news_, {}));
    if (answer.request) answer = step({testing::answer_to(*answer.request, now_)});
    EXPECT_FALSE(answer.refused) << *answer.refused;
    return answer.plan;
  }
  Changes changes_at(double second) {
    Changes changes;
    for (const Action& action : plan_at(second).actions) changes.push_back(action.what);
    return changes;
  }

  [[nodiscard]] std::uint64_t generation_of(const Slice& slice) const {
    for (const StandingSlice& standing : engine_->snapshot().slices) {
      if (standing.holding.slice == slice) return standing.generation;
    }
    ADD_FAILURE() << "no such slice";
    return 0;
  }
  void creation_fails(const Slice& slice) {
    happens(ActionFailed{
        .kind = ActionKind::kCreation, .slice = slice, .generation = generation_of(slice), .message = "no"});
  }
  void is_gone(const Slice& slice) { happens(SliceGone{.slice = slice, .generation = generation_of(slice)}); }
  void is_ready(const Slice& slice) {
    for (const StandingSlice& standing : engine_->snapshot().slices) {
      if (standing.holding.slice == slice) happens(SliceReady{.slice = slice, .assignment = standing.assignment});
    }
  }
  void is_set(std::uint32_t place, const std::string& name) {
    auto spec = std::make_shared<ServiceSpec>(std::as_const(scenario_.services)[0]);
    spec->name = spec->tenant = name;
    happens(ServiceSet{.service = {place}, .revision = ++revision_, .spec = std::move(spec)});
  }
  /// Another slice on GPU 1, so that its slice is gone.
  void lose_far() {
    happens(GpuLost{.gpu = {1}});
    EXPECT_TRUE(changes_at(1).empty());
    happens(GpuReturned{.gpu = {1}});
  }

  Scenario scenario_;
  std::unique_ptr<Engine> engine_;

 private:
  struct LoggedStep {
    Instant now;
    std::vector<Event> events;
  };

  [[nodiscard]] std::unique_ptr<Engine> new_engine() const { return std::make_unique<Engine>(scenario_, stages_of); }

  StepAnswer step(std::vector<Event> events) {
    for (const Event& event : events) engine_->observe(event);
    StepAnswer answer = engine_->step(now_);
    log_.push_back({.now = now_, .events = std::move(events)});
    if (!GetParam()) return answer;
    engine_ = new_engine();
    for (const LoggedStep& logged : log_) {
      for (const Event& event : logged.events) engine_->observe(event);
      static_cast<void>(engine_->step(logged.now));
    }
    return answer;
  }

  Instant now_;
  std::vector<Event> news_;
  std::vector<LoggedStep> log_;
  std::uint64_t revision_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Engine, Restore, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "Rebuilt" : "Straight"; });

const Changes kFarAgain = {CreateSlice{kFar}, give(held(kFar, {{0}})).what};

TEST_P(Restore, WhereNothingIsMissingNothingIsPlanned) {
  begin(with_layout());
  for (const double second : {0.5, 1.0, 7.0}) EXPECT_TRUE(changes_at(second).empty());
  for (const Slice& slice : {kSmall, kUnowned, kLarge, kFar}) is_ready(slice);
  EXPECT_TRUE(changes_at(8).empty());
}

TEST_P(Restore, AReturnedGpuGetsItsSlicesAgain) {
  begin(with_layout());
  happens(GpuLost{.gpu = {0}});
  EXPECT_TRUE(changes_at(1).empty());
  happens(GpuReturned{.gpu = {0}});
  const Plan plan = plan_at(2);
  Changes changes;
  for (const Action& action : plan.actions) changes.push_back(action.what);
  EXPECT_EQ(changes, (Changes{CreateSlice{kSmall}, give(held(kSmall, {{0}})).what, CreateSlice{kUnowned},
                              CreateSlice{kLarge}, give(held(kLarge, {{1}})).what}));
  EXPECT_EQ(plan.actions[0].reason.text, "the scenario's layout has this slice, and it is missing");
  EXPECT_EQ(plan.actions[1].reason.text, "the scenario's layout gives it to a");
  EXPECT_TRUE(changes_at(3).empty());
}

TEST_P(Restore, AnEmptyGpuThatIsNotOpenWaits) {
  begin(with_layout());
  lose_far();
  happens(GpuScheduled{.gpu = {1}, .scheduling = GpuScheduling::kCordoned});
  EXPECT_TRUE(changes_at(2).empty());
  EXPECT_TRUE(changes_at(3).empty());
  happens(GpuScheduled{.gpu = {1}});
  EXPECT_EQ(changes_at(4), kFarAgain);
}

TEST_P(Restore, NoChangeBeginsInAFrozenWindow) {
  Scenario scenario = with_layout();
  scenario.frozen = {{.from = Instant::at_second(2), .until = Instant::at_second(9)}};
  begin(std::move(scenario));
  lose_far();
  EXPECT_TRUE(changes_at(2).empty());
  EXPECT_TRUE(changes_at(8).empty());
  EXPECT_EQ(changes_at(9), kFarAgain);
}

TEST_P(Restore, NoChangeBeginsWhilePlanningIsPaused) {
  begin(with_layout());
  lose_far();
  happens(PlanningPaused{});
  EXPECT_TRUE(changes_at(2).empty());
  happens(PlanningResumed{});
  EXPECT_EQ(changes_at(3), kFarAgain);
}

TEST_P(Restore, ACreationThatFailsIsRepeatedLaterAndLater) {
  begin(with_layout());
  double second = 10;
  for (const double wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    creation_fails(kFar);
    EXPECT_TRUE(changes_at(second).empty());
    EXPECT_TRUE(changes_at(second + wait - 0.001).empty()) << wait;
    second += wait;
    EXPECT_EQ(changes_at(second), kFarAgain) << wait;
  }
  is_ready(kFar);  // this ends the series
  EXPECT_TRUE(changes_at(++second).empty());
  is_gone(kFar);
  EXPECT_EQ(changes_at(++second), kFarAgain);
  creation_fails(kFar);
  EXPECT_TRUE(changes_at(++second).empty());
  EXPECT_EQ(changes_at(++second), kFarAgain);
}

TEST_P(Restore, FailuresOfOnePlanCountOnce) {
  begin(with_layout());
  creation_fails(kSmall);
  EXPECT_TRUE(changes_at(1).empty());
  is_ready(kUnowned);  // created by the same plan: this says nothing about the next attempt
  creation_fails(kLarge);
  EXPECT_TRUE(changes_at(1.5).empty());
  EXPECT_TRUE(changes_at(2.4).empty());
  const Plan plan = plan_at(2.5);
  ASSERT_EQ(plan.actions.size(), 4U);
  EXPECT_EQ(plan.actions[0].reason.text,
            "the scenario's layout has this slice, and it is missing; another attempt after 1 that failed");
  creation_fails(kSmall);
  EXPECT_TRUE(changes_at(3).empty());
  EXPECT_TRUE(changes_at(4.9).empty());
  EXPECT_EQ(changes_at(5), (Changes{CreateSlice{kSmall}, give(held(kSmall, {{0}})).what}));
}

TEST_P(Restore, ASliceThatWasReportedAsFailedButStandsIsGivenAtOnce) {
  begin(with_layout());
  const std::uint64_t generation = generation_of(kFar);
  creation_fails(kFar);
  happens(
      GpuObserved{.gpu = {1}, .known_number = generation + 1, .slices = {{.slice = kFar, .generation = generation}}});
  EXPECT_EQ(changes_at(1), Changes{give(held(kFar, {{0}})).what});
}

TEST_P(Restore, AServiceThatIsSetAgainGetsItsSlicesWhereverItsPlaceIs) {
  begin(with_layout());
  happens(ServiceRemoved{{0}});
  EXPECT_EQ(changes_at(1), (Changes{DestroySlice{kSmall}, DestroySlice{kFar}}));
  is_set(2, "a");
  EXPECT_TRUE(changes_at(2).empty());  // the slices of its predecessor still exist
  is_gone(kFar);
  EXPECT_EQ(changes_at(3), (Changes{CreateSlice{kFar}, give(held(kFar, {{2}})).what}));
  is_gone(kSmall);
  EXPECT_EQ(changes_at(4), (Changes{CreateSlice{kSmall}, give(held(kSmall, {{2}})).what}));
}

TEST_P(Restore, AnotherServiceInThePlaceGetsNothing) {
  begin(with_layout());
  happens(ServiceRemoved{{0}});
  EXPECT_EQ(changes_at(1).size(), 2U);
  is_gone(kFar);
  is_gone(kSmall);
  EXPECT_TRUE(changes_at(2).empty());
  is_set(0, "c");
  EXPECT_TRUE(changes_at(3).empty());
  is_set(2, "a");
  EXPECT_EQ(changes_at(4).size(), 4U);
}

TEST_P(Restore, ASliceOfOthersKeepsItsRoom) {
  begin(with_layout());
  lose_far();
  const Slice others = slice_at(1, "1g.10gb", 2);
  happens(GpuObserved{.gpu = {1}, .known_number = 99, .slices = {{.slice = others, .is_foreign = true}}});
  EXPECT_TRUE(changes_at(2).empty());
  EXPECT_TRUE(changes_at(3).empty());
  happens(GpuObserved{.gpu = {1}, .known_number = 99, .slices = {}});
  EXPECT_EQ(changes_at(4), kFarAgain);
}

TEST_P(Restore, ASliceOfOthersBesideItsRoomIsNoObstacle) {
  begin(with_layout());
  lose_far();
  const Slice others = slice_at(1, "1g.10gb", 6);
  happens(GpuObserved{.gpu = {1}, .known_number = 99, .slices = {{.slice = others, .is_foreign = true}}});
  EXPECT_EQ(changes_at(2), kFarAgain);
}

/// The stage alone, for states that its own plans never lead to.
Changes asked(const Scenario& scenario, const Snapshot& snapshot, Plan plan = {}) {
  const std::size_t before = plan.actions.size();
  EXPECT_EQ(testing::decide(restore_stage(scenario), snapshot, plan), std::nullopt);
  Changes changes;
  for (std::size_t i = before; i < plan.actions.size(); ++i) changes.push_back(plan.actions[i].what);
  return changes;
}

Snapshot at_second_five(std::vector<StandingSlice> slices) {
  Snapshot snapshot;
  snapshot.now = Instant::at_second(5);
  snapshot.services.resize(2);
  for (const StandingSlice& each : slices) snapshot.slices.push_back(each);
  return snapshot;
}

TEST(RestoreStage, LeavesAloneWhatSomebodyElseHolds) {
  const Scenario scenario = with_layout();
  EXPECT_TRUE(asked(scenario, at_second_five({{.holding = held(kSmall, {{1}})},
                                              {.holding = held(kUnowned, {{1}})},
                                              {.holding = held(kLarge, {}), .is_foreign = true},
                                              {.holding = held(slice_at(1, "7g.80gb", 0), {})}}))
                  .empty());
}

TEST(RestoreStage, AWholeGpuNeedsAllOfIt) {
  Scenario scenario = two_gpus();
  const Slice whole{.gpu = {1}, .start = 0, .profile = ProfileId::full()};
  scenario.layout = {held(kSmall, {{0}}), held(whole, {{1}})};
  const Changes expected = {CreateSlice{whole}, give(held(whole, {{1}})).what};
  EXPECT_EQ(asked(scenario, at_second_five({{.holding = held(kSmall, {{0}})}})), expected);
  const StandingSlice leaving{.holding = held(kFar, {{0}}), .is_leaving = true};
  EXPECT_TRUE(asked(scenario, at_second_five({{.holding = held(kSmall, {{0}})}, leaving})).empty());
}

TEST(RestoreStage, ComesAfterOtherPlans) {
  Plan plan;
  plan.actions = {destroy(kSmall)};
  EXPECT_TRUE(asked(with_layout(), at_second_five({{.holding = held(kSmall, {{0}})}}), plan).empty());
}

TEST(RestoreStage, LeavesTheFirstLayoutToItsStage) {
  Snapshot snapshot = at_second_five({});
  snapshot.now = Instant();
  EXPECT_TRUE(asked(with_layout(), snapshot).empty());
}

TEST(RestoreStage, APlanIsBounded) {
  Scenario scenario = two_gpus();
  scenario.fleet.front().count = 3000;
  scenario.layout.emplace();
  for (std::uint32_t gpu = 0; gpu < 3000; ++gpu) {
    scenario.layout->push_back(held(slice_at(gpu, "3g.40gb", 0), {{0}}));
  }
  EXPECT_EQ(asked(scenario, at_second_five({})).size(), kRestoredActionsMax);
}

}  // namespace
}  // namespace berth
