#include "engine/loop/engine.h"

#include <gtest/gtest.h>

#include "engine/loop/stages.h"
#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::destroy;
using testing::give;
using testing::held;
using testing::slice_at;
using testing::two_gpus;

const Instant kFirstSecond = Instant::at_second(1);

Stage asking(std::vector<Action> actions) {
  return deciding_stage("asks", [actions](const Snapshot&, Plan& plan) -> std::optional<std::string> {
    plan.actions.insert(plan.actions.end(), actions.begin(), actions.end());
    return std::nullopt;
  });
}

Event happened(decltype(Event::what) what) { return {.at = Instant(), .what = std::move(what)}; }

TEST(Engine, EventsAreAppliedByTheNextStep) {
  const Scenario scenario = two_gpus();
  Engine engine(scenario, ready_stages({}));
  engine.observe(happened(RetrainingDue{{1}}));
  EXPECT_EQ(engine.snapshot().version, 0U);
  const StepAnswer answer = engine.step(kFirstSecond);
  EXPECT_EQ(engine.snapshot().version, 1U);
  EXPECT_TRUE(engine.snapshot().services[1].is_retraining_due);
  EXPECT_FALSE(answer.request.has_value());
  EXPECT_TRUE(answer.plan.actions.empty());
}

TEST(Engine, AnAcceptedPlanIsRecorded) {
  const Scenario scenario = two_gpus();
  const Slice slice = slice_at(0, "1g.10gb", 0);
  Engine engine(scenario, ready_stages({asking({create(slice)}), asking({give(held(slice, {{0}}))})}));
  const StepAnswer answer = testing::step_and_solve(engine, Instant());
  EXPECT_FALSE(answer.refused.has_value());
  EXPECT_EQ(answer.plan.actions.size(), 2U);  // of both stages, in their order
  ASSERT_EQ(engine.snapshot().slices.size(), 1U);
  EXPECT_EQ(engine.snapshot().slices[0].holding, held(slice, {{0}}));
}

TEST(Engine, AStageThatMisbehavesIsRefusedAndChangesNothing) {
  const Scenario scenario = two_gpus();
  const std::vector<std::vector<Action>> bad_plans = {
      {destroy(slice_at(0, "1g.10gb", 0))},
      {create(slice_at(0, "1g.10gb", 0)), create(slice_at(0, "2g.20gb", 0))},
      {create(slice_at(0, "1g.10gb", 0)), give(held(slice_at(0, "1g.10gb", 0), {{9}}))},
  };
  for (const auto& actions : bad_plans) {
    Engine engine(scenario, ready_stages({asking(actions)}));
    const StepAnswer answer = testing::step_and_solve(engine, Instant());
    EXPECT_TRUE(answer.refused.has_value());
    EXPECT_TRUE(answer.plan.actions.empty());
    EXPECT_TRUE(engine.snapshot().slices.empty());
  }
}

TEST(Engine, AStageThatFindsNoPlanEndsTheStep) {
  const Scenario scenario = two_gpus();
  const Stage hopeless =
      deciding_stage("no", [](const Snapshot&, Plan&) { return std::optional<std::string>("too few"); });
  Engine engine(scenario, ready_stages({asking({create(slice_at(0, "1g.10gb", 0))}), hopeless}));
  EXPECT_EQ(engine.step(Instant()).infeasible, "too few");
  EXPECT_TRUE(engine.snapshot().slices.empty());
}

TEST(Engine, TheFirstLayoutIsTheFirstAnswerEvenIfItIsEmpty) {
  const Scenario scenario = two_gpus();
  int asked = 0;
  const Stage second_time = deciding_stage("late", [&](const Snapshot& snapshot, Plan& plan) {
    EXPECT_EQ(snapshot.is_before_first_layout(), asked == 0);
    if (++asked > 1) plan.actions.push_back(create(slice_at(0, "1g.10gb", 0)));
    return std::optional<std::string>();
  });
  Engine engine(scenario, ready_stages({second_time}));
  static_cast<void>(testing::step_and_solve(engine, Instant()));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(engine.snapshot().is_before_first_layout());
  const StepAnswer later = testing::step_and_solve(engine, Instant());  // still at second 0
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(later.plan.actions.size(), 1U);
  EXPECT_FALSE(later.is_first_layout);
}

TEST(Engine, PlansAreCheckedForTheInstantAtWhichTheyAct) {
  Scenario scenario = two_gpus();
  scenario.planning = Micros::seconds(5);
  scenario.frozen = {{.from = Instant::at_second(6), .until = Instant::at_second(7)}};
  for (const auto& [asked_at, is_refused] : {std::pair(1, true), {2, false}}) {
    Engine engine(scenario, ready_stages({asking({create(slice_at(0, "1g.10gb", 0))})}));
    const StepAnswer asked = engine.step(Instant::at_second(asked_at));
    ASSERT_TRUE(asked.request.has_value());
    EXPECT_EQ(asked.request->acts_at, Instant::at_second(asked_at + 5));
    engine.observe(testing::answer_to(*asked.request, asked.request->acts_at));
    EXPECT_EQ(engine.step(asked.request->acts_at).refused.has_value(), is_refused);
  }
}

TEST(Engine, NoChangeBeginsInAWindowWithoutChanges) {
  Engine engine(two_gpus(), ready_stages({asking({create(slice_at(0, "1g.10gb", 0))})}));
  // The second minute of the world.
  const NoChanges windows{.week_at_start = Micros::seconds(60), .spans = {{.from_minute = 2, .until_minute = 3}}};
  engine.observe(happened(NoChangesSet{.windows = windows}));
  const auto refused_at = [&](std::int64_t second) {
    const StepAnswer asked = engine.step(Instant::at_second(second));
    EXPECT_TRUE(asked.request.has_value());
    engine.observe(testing::answer_to(*asked.request, Instant::at_second(second)));
    return engine.step(Instant::at_second(second)).refused;
  };
  EXPECT_EQ(refused_at(60), "a change would begin in a frozen window");
  EXPECT_EQ(engine.scenario().no_changes, windows);
  EXPECT_EQ(engine.snapshot().specs_version, 1U);
  EXPECT_TRUE(refused_at(119).has_value());
  EXPECT_EQ(refused_at(120), std::nullopt);
  EXPECT_EQ(engine.snapshot().slices.size(), 1U);
}

// ---- questions and answers

/// Asks for a plan in each step, and records what it sees.
struct Asking {
  int observed = 0;
  int asked = 0;
  int learned = 0;
  std::vector<Action> actions;

  Stage stage() {
    return {.name = "asks",
            .observe = [this](const Snapshot&) { ++observed; },
            .ask = [this](const Snapshot&, Plan&) -> StageAnswer {
              ++asked;
              return [actions = actions](const Snapshot&, Solution& solution) { solution.plan.actions = actions; };
            },
            .learn = [this](const Solution&) { ++learned; }};
  }
};

TEST(Engine, AStepNeverSolvesAndHasOneQuestionOpen) {
  const Scenario scenario = two_gpus();
  Asking asking;
  asking.actions = {create(slice_at(0, "1g.10gb", 0))};
  Engine engine(scenario, ready_stages({asking.stage()}));
  const StepAnswer first = engine.step(kFirstSecond);
  ASSERT_TRUE(first.request.has_value());
  EXPECT_TRUE(engine.snapshot().slices.empty());
  for (int second = 2; second < 5; ++second) {
    EXPECT_FALSE(engine.step(Instant::at_second(second)).request.has_value());
  }
  EXPECT_EQ(asking.asked, 1);
  EXPECT_EQ(asking.observed, 4);

  engine.observe(testing::answer_to(*first.request, Instant::at_second(5)));
  const StepAnswer answered = engine.step(Instant::at_second(5));
  EXPECT_EQ(answered.plan.actions.size(), 1U);
  EXPECT_EQ(answered.plan.made_at, kFirstSecond);
  EXPECT_EQ(answered.plan.id, first.request->question);
  EXPECT_FALSE(answered.request.has_value());  // this step's only event was the answer
  EXPECT_EQ(asking.learned, 1);
  EXPECT_TRUE(engine.step(Instant::at_second(6)).request.has_value());
}

TEST(Engine, AnAnswerToAnotherQuestionIsNotTaken) {
  const Scenario scenario = two_gpus();
  Asking asking;
  asking.actions = {create(slice_at(0, "1g.10gb", 0))};
  Engine engine(scenario, ready_stages({asking.stage()}));
  const StepAnswer first = engine.step(kFirstSecond);
  Event event = testing::answer_to(*first.request, kFirstSecond);
  std::get<SolveFinished>(event.what).question += 1;
  engine.observe(event);
  EXPECT_TRUE(engine.step(kFirstSecond).plan.actions.empty());
  EXPECT_TRUE(engine.has_open_question());
  engine.observe(testing::answer_to(*first.request, kFirstSecond));
  EXPECT_EQ(engine.step(kFirstSecond).plan.actions.size(), 1U);
  engine.observe(testing::answer_to(*first.request, kFirstSecond));  // once more
  EXPECT_TRUE(engine.step(kFirstSecond).plan.actions.empty());
}

TEST(Engine, ThePartOfAPlanWhoseFactsChangedIsLeftOut) {
  const Scenario scenario = two_gpus();
  const Slice standing = slice_at(0, "1g.10gb", 0);
  Asking asking;
  asking.actions = {create(standing)};
  Engine engine(scenario, ready_stages({asking.stage()}));
  ASSERT_EQ(testing::step_and_solve(engine, Instant()).plan.actions.size(), 1U);
  const std::uint64_t generation = engine.snapshot().slices[0].generation;

  asking.actions = {give(held(standing, {{0}})), create(slice_at(1, "1g.10gb", 0))};
  const StepAnswer asked = engine.step(kFirstSecond);
  engine.observe({.at = kFirstSecond, .what = SliceGone{.slice = standing, .generation = generation}});
  engine.observe(testing::answer_to(*asked.request, kFirstSecond));
  const StepAnswer answer = engine.step(kFirstSecond);
  EXPECT_FALSE(answer.refused.has_value());
  ASSERT_EQ(answer.plan.actions.size(), 1U);
  EXPECT_EQ(slice_of(answer.plan.actions[0].what).gpu, GpuId{1});
  EXPECT_EQ(answer.dropped, (std::vector<DroppedPart>{{.gpu = {0}, .why = "1g.10gb@0 on gpu-0 is gone"}}));
}

TEST(Engine, NewsOfAPredecessorIsNotTakenForNewsOfItsSuccessor) {
  const Scenario scenario = two_gpus();
  const Slice slice = slice_at(0, "1g.10gb", 0);
  Asking asking;
  asking.actions = {create(slice), give(held(slice, {{0}}))};
  Engine engine(scenario, ready_stages({asking.stage()}));
  const Plan first = testing::step_and_solve(engine, Instant()).plan;
  asking.actions = {destroy(slice), create(slice), give(held(slice, {{1}}))};
  const Plan second = testing::step_and_solve(engine, kFirstSecond).plan;
  ASSERT_EQ(second.actions.size(), 3U);

  const SliceReady late{.slice = slice, .assignment = first.actions[1].number};
  const SliceGone old{.slice = slice, .generation = first.actions[0].number};
  for (const Event& event : {happened(late), happened(old), happened(old), happened(late)}) engine.observe(event);
  asking.actions = {};
  static_cast<void>(engine.step(Instant::at_second(2)));
  ASSERT_EQ(engine.snapshot().slices.size(), 1U);
  EXPECT_FALSE(engine.snapshot().slices[0].is_ready);
  engine.observe(happened(SliceReady{.slice = slice, .assignment = second.actions[2].number}));
  static_cast<void>(engine.step(Instant::at_second(2)));
  EXPECT_TRUE(engine.snapshot().slices[0].is_ready);
}

TEST(EngineDeathTest, TimeDoesNotGoBack) {
  const Scenario scenario = two_gpus();
  Engine engine(scenario, ready_stages({}));
  static_cast<void>(engine.step(kFirstSecond));
  EXPECT_DEATH(static_cast<void>(engine.step(Instant())), "broken invariant");
}

// ---- approval and pause

/// An engine whose stage asks in each step, and its next answer.
struct Approving {
  Scenario scenario = two_gpus();
  Asking asking;
  std::unique_ptr<Engine> engine;
  const Slice first = slice_at(0, "1g.10gb", 0);
  const Slice other = slice_at(1, "1g.10gb", 0);

  explicit Approving(Approval approval = Approval::kAlways, std::vector<FrozenWindow> frozen = {}) {
    scenario.frozen = std::move(frozen);
    engine = std::make_unique<Engine>(scenario, ready_stages({asking.stage()}), EngineRules{.approval = approval});
    asking.actions = {create(first)};
    EXPECT_EQ(ask_and_answer(0).plan.actions.size(), 1U);  // the first layout
  }
  StepAnswer ask_and_answer(int second) { return testing::step_and_solve(*engine, Instant::at_second(second)); }
  StepAnswer tell(int second, decltype(Event::what) what) {
    engine->observe({.at = Instant::at_second(second), .what = std::move(what)});
    return engine->step(Instant::at_second(second));
  }
  /// A proposal of these actions, made at second 1.
  std::uint64_t propose(std::vector<Action> actions) {
    asking.actions = std::move(actions);
    const StepAnswer answer = ask_and_answer(1);
    EXPECT_TRUE(answer.plan.actions.empty());
    EXPECT_TRUE(answer.held.has_value());
    return answer.held ? answer.held->id : 0;
  }
};

TEST(Approval, TheFirstLayoutNeedsNoneAndLaterPlansWait) {
  Approving world;
  const std::uint64_t id = world.propose({create(world.other)});
  EXPECT_EQ(world.engine->snapshot().slices.size(), 1U);
  ASSERT_NE(world.engine->waiting(), nullptr);
  EXPECT_EQ(world.engine->waiting()->id, id);
}

TEST(Approval, NothingIsAskedWhileAPlanWaitsAndStagesGoOnObserving) {
  Approving world;
  static_cast<void>(world.propose({create(world.other)}));
  const int asked = world.asking.asked;
  const int observed = world.asking.observed;
  for (int second = 2; second < 100; ++second) {
    const StepAnswer answer = world.engine->step(Instant::at_second(second));
    EXPECT_FALSE(answer.request.has_value());
    EXPECT_FALSE(answer.ended.has_value());
  }
  EXPECT_EQ(world.asking.asked, asked);
  EXPECT_EQ(world.asking.observed, observed + 98);
}

TEST(Approval, AnApprovedPlanTakesEffectAtOnceAndOnce) {
  Approving world;
  const std::uint64_t id = world.propose({create(world.other)});
  EXPECT_FALSE(world.tell(5, PlanApproved{.plan = id + 1}).ended.has_value());  // of another plan
  const StepAnswer answer = world.tell(6, PlanApproved{.plan = id});
  EXPECT_EQ(answer.ended, (EndedProposal{.plan = id, .end = ProposalEnd::kApproved, .difference = {}}));
  ASSERT_EQ(answer.plan.actions.size(), 1U);
  EXPECT_EQ(answer.plan.id, id);
  EXPECT_GT(answer.plan.actions[0].number, 0U);
  EXPECT_EQ(world.engine->snapshot().slices.size(), 2U);
  EXPECT_TRUE(answer.request.has_value());  // it may ask again
  EXPECT_TRUE(world.tell(7, PlanApproved{.plan = id}).plan.actions.empty());
}

TEST(Approval, AnExpiredPlanNeverTakesEffect) {
  Approving world;
  const std::uint64_t id = world.propose({create(world.other)});
  const StepAnswer answer = world.tell(6, PlanExpired{.plan = id});
  EXPECT_EQ(answer.ended, (EndedProposal{.plan = id, .end = ProposalEnd::kExpired, .difference = {}}));
  EXPECT_TRUE(answer.request.has_value());
  EXPECT_TRUE(world.tell(7, PlanApproved{.plan = id}).plan.actions.empty());
  EXPECT_EQ(world.engine->snapshot().slices.size(), 1U);
}

TEST(Approval, AProposalIsSupersededWhenItsFactsChange) {
  const std::vector<std::pair<decltype(Event::what), std::string>> cases = {
      {GpuLost{.gpu = {1}}, "gpu-1 is lost"},
      {GpuScheduled{.gpu = {1}, .scheduling = GpuScheduling::kCordoned}, "gpu-1 is cordoned now, and was open"},
      {SliceGone{.slice = slice_at(0, "1g.10gb", 0), .generation = 1}, "1g.10gb@0 on gpu-0 is gone"},
  };
  for (const auto& [event, difference] : cases) {
    Approving world;
    const std::uint64_t id = world.propose({give(held(world.first, {{0}})), create(world.other)});
    const StepAnswer answer = world.tell(2, event);
    EXPECT_EQ(answer.ended, (EndedProposal{.plan = id, .end = ProposalEnd::kSuperseded, .difference = {difference}}));
    EXPECT_EQ(world.engine->waiting(), nullptr);
    EXPECT_TRUE(answer.request.has_value());
    EXPECT_TRUE(world.tell(3, PlanApproved{.plan = id}).plan.actions.empty());
  }
}

TEST(Approval, OtherNewsLeavesAProposalWaiting) {
  Approving world;
  const std::uint64_t id = world.propose({give(held(world.first, {{0}}))});
  EXPECT_FALSE(world.tell(2, GpuLost{.gpu = {1}}).ended.has_value());
  EXPECT_FALSE(world.tell(3, RetrainingDue{{1}}).ended.has_value());
  EXPECT_FALSE(world.tell(4, SliceReady{.slice = world.first, .assignment = 1}).ended.has_value());
  EXPECT_EQ(world.tell(5, PlanApproved{.plan = id}).plan.actions.size(), 1U);
}

TEST(Approval, AProposalIsSupersededWhenAFrozenWindowBegins) {
  Approving world(Approval::kAlways, {{.from = Instant::at_second(5), .until = Instant::at_second(7)}});
  const std::uint64_t id = world.propose({create(world.other)});
  EXPECT_FALSE(world.engine->step(Instant::at_second(4)).ended.has_value());
  const StepAnswer answer = world.tell(5, PlanApproved{.plan = id});
  ASSERT_TRUE(answer.ended.has_value());
  EXPECT_EQ(answer.ended->end, ProposalEnd::kSuperseded);
  EXPECT_TRUE(answer.plan.actions.empty());
}

TEST(Approval, FirstHoldsAPlanThatChangesANewGpuAsAWhole) {
  Approving world(Approval::kFirst);
  const std::uint64_t id = world.propose({give(held(world.first, {{0}}))});
  world.asking.actions = {give(held(world.first, {{1}}))};
  const StepAnswer approved = world.tell(2, PlanApproved{.plan = id});
  ASSERT_TRUE(approved.request.has_value());
  world.engine->observe(testing::answer_to(*approved.request, Instant::at_second(2)));
  EXPECT_EQ(world.engine->step(Instant::at_second(2)).plan.actions.size(), 1U);  // GPU 0 once more
  world.asking.actions = {give(held(world.first, {{0}})), create(world.other)};
  const StepAnswer both = world.ask_and_answer(3);
  ASSERT_TRUE(both.held.has_value());
  EXPECT_EQ(both.held->actions.size(), 2U);
}

TEST(Pause, NothingTakesEffectAndNothingIsAsked) {
  Approving world(Approval::kNever);
  world.asking.actions = {create(world.other)};
  const StepAnswer asked = world.engine->step(kFirstSecond);
  ASSERT_TRUE(asked.request.has_value());
  static_cast<void>(world.tell(2, PlanningPaused{.reason = "upgrade"}));
  world.engine->observe(testing::answer_to(*asked.request, Instant::at_second(3)));
  const StepAnswer dropped = world.engine->step(Instant::at_second(3));
  EXPECT_EQ(dropped.paused, "upgrade");
  EXPECT_TRUE(dropped.plan.actions.empty());
  EXPECT_FALSE(world.engine->step(Instant::at_second(4)).request.has_value());
  EXPECT_EQ(world.engine->snapshot().pause, (PlanningPause{.reason = "upgrade", .since = Instant::at_second(2)}));
  EXPECT_TRUE(world.tell(5, PlanningResumed{}).request.has_value());
  EXPECT_FALSE(world.engine->snapshot().pause.has_value());
}

TEST(Pause, AProposalGoesOnWaitingAndIsNotApproved) {
  Approving world;
  const std::uint64_t id = world.propose({create(world.other)});
  static_cast<void>(world.tell(2, PlanningPaused{.reason = "upgrade"}));
  EXPECT_TRUE(world.tell(3, PlanApproved{.plan = id}).plan.actions.empty());
  EXPECT_NE(world.engine->waiting(), nullptr);
  static_cast<void>(world.tell(4, PlanningResumed{}));
  EXPECT_EQ(world.tell(5, PlanApproved{.plan = id}).plan.actions.size(), 1U);
}

// ---- a first layout that takes its time

/// An engine that is asked at second 0, and its answers there. `before`: the events that it gets before it answers.
StepAnswer first_answer(const Scenario& scenario, const EngineRules& rules, const std::vector<Event>& before = {}) {
  Engine engine(scenario, ready_stages({asking({create(slice_at(0, "1g.10gb", 0))})}), rules);
  StepAnswer asked = engine.step(Instant());
  if (!asked.request) return asked;
  for (const Event& event : before) engine.observe(event);
  engine.observe(testing::answer_to(*asked.request, Instant()));
  StepAnswer answer = engine.step(Instant());
  EXPECT_EQ(engine.snapshot().slices.size(), answer.plan.actions.size());
  return answer;
}

TEST(FirstLayoutWithTime, ItIsAPlanThatStandsNotAtOnce) {
  EXPECT_TRUE(first_answer(two_gpus(), {}).is_first_layout);
  const StepAnswer answer = first_answer(two_gpus(), {.first_layout_takes_time = true});
  EXPECT_EQ(answer.plan.actions.size(), 1U);
  EXPECT_FALSE(answer.is_first_layout);
}

TEST(FirstLayoutWithTime, ItWaitsForApproval) {
  for (const Approval approval : {Approval::kFirst, Approval::kAlways}) {
    EXPECT_FALSE(first_answer(two_gpus(), {.approval = approval}).held.has_value());
    const StepAnswer answer = first_answer(two_gpus(), {.approval = approval, .first_layout_takes_time = true});
    EXPECT_TRUE(answer.held.has_value());
    EXPECT_TRUE(answer.plan.actions.empty());
  }
}

TEST(FirstLayoutWithTime, ItObeysAPause) {
  const std::vector<Event> paused = {happened(PlanningPaused{.reason = "upgrade"})};
  EXPECT_EQ(first_answer(two_gpus(), {}, paused).plan.actions.size(), 1U);
  const StepAnswer answer = first_answer(two_gpus(), {.first_layout_takes_time = true}, paused);
  EXPECT_EQ(answer.paused, "upgrade");
  EXPECT_TRUE(answer.plan.actions.empty());
}

TEST(FirstLayoutWithTime, ItIsNotAskedForInAWindowWithoutChanges) {
  Scenario scenario = two_gpus();
  scenario.frozen = {{.from = Instant(), .until = Instant::at_second(5)}};
  EXPECT_EQ(first_answer(scenario, {}).plan.actions.size(), 1U);
  const StepAnswer answer = first_answer(scenario, {.first_layout_takes_time = true});
  EXPECT_FALSE(answer.request.has_value());
  EXPECT_TRUE(answer.plan.actions.empty());
}

TEST(FirstLayoutWithTime, AWindowThatComesBeforeTheAnswerRefusesIt) {
  const NoChanges always{.week_at_start = {}, .spans = {{.from_minute = 0, .until_minute = 60}}};
  const std::vector<Event> frozen = {happened(NoChangesSet{.windows = always})};
  EXPECT_FALSE(first_answer(two_gpus(), {}, frozen).refused.has_value());
  const StepAnswer answer = first_answer(two_gpus(), {.first_layout_takes_time = true}, frozen);
  EXPECT_EQ(answer.refused, "a change would begin in a frozen window");
  EXPECT_TRUE(answer.plan.actions.empty());
}

// ---- stages

TEST(FirstLayoutStage, LaysOutOnceAtSecondZero) {
  const Slice slice = slice_at(0, "3g.40gb", 4);
  const Stage stage = first_layout_stage(
      "p", [&](const Snapshot&) -> partition::LayoutOrInfeasible { return partition::Layout{held(slice, {{1}})}; });
  EXPECT_EQ(stage.name, "p");
  Snapshot snapshot;
  Plan plan;
  EXPECT_FALSE(testing::decide(stage, snapshot, plan).has_value());
  ASSERT_EQ(plan.actions.size(), 2U);
  EXPECT_EQ(std::get<CreateSlice>(plan.actions[0].what).slice, slice);
  EXPECT_EQ(std::get<AssignSlice>(plan.actions[1].what).holding, held(slice, {{1}}));
  EXPECT_EQ(plan.actions[0].reason.text, "first layout");

  Plan later;
  snapshot.slices = {{.holding = held(slice, {{1}})}};
  EXPECT_FALSE(testing::decide(stage, snapshot, later).has_value());
  snapshot.slices.clear();
  snapshot.now = kFirstSecond;
  EXPECT_FALSE(testing::decide(stage, snapshot, later).has_value());
  EXPECT_TRUE(later.actions.empty());
}

TEST(FirstLayoutStage, SaysWhyThereIsNone) {
  const Stage stage = first_layout_stage(
      "p", [](const Snapshot&) -> partition::LayoutOrInfeasible { return partition::Infeasible{"too few GPUs"}; });
  Plan plan;
  EXPECT_EQ(testing::decide(stage, Snapshot(), plan), "too few GPUs");
}

/// Service 0 holds 1g@0 and 3g@4 of GPU 0 and retrains for 3 s on 1g, 1 s on 3g.
struct Retrains {
  Scenario scenario = two_gpus();
  Snapshot snapshot;
  Slice small = slice_at(0, "1g.10gb", 0);
  Slice large = slice_at(0, "3g.40gb", 4);

  Retrains() {
    Retraining retraining;
    retraining.every = Micros::seconds(10);
    retraining.time_on = {{1, Micros::seconds(3)}, {3, Micros::seconds(1)}};
    scenario.services[0].retraining = retraining;
    snapshot.services.resize(2);
    snapshot.slices = {{.holding = held(small, {{0}}), .is_ready = true},
                       {.holding = held(large, {{0}}), .is_ready = true}};
  }
  [[nodiscard]] std::vector<Action> asked() const {
    Plan plan;
    EXPECT_FALSE(testing::decide(retraining_stage(scenario), snapshot, plan).has_value());
    for (Action& action : plan.actions) action.reason = {};
    return plan.actions;
  }
};

TEST(RetrainingStage, LendsTheSliceThatCostsLeastAndTakesItBack) {
  Retrains world;
  EXPECT_TRUE(world.asked().empty());
  world.snapshot.services[0].is_retraining_due = true;
  EXPECT_EQ(world.asked(), std::vector{give(held(world.small, {{0}}, Role::kRetraining))});
  world.snapshot.slices.change(0).holding.role = Role::kRetraining;
  EXPECT_TRUE(world.asked().empty());
  world.snapshot.services[0].is_retraining_due = false;
  EXPECT_EQ(world.asked(), std::vector{give(held(world.small, {{0}}))});
}

TEST(RetrainingStage, KeepsTheLastServingSlice) {
  Retrains world;
  world.snapshot.services[0].is_retraining_due = true;
  world.snapshot.slices.pop_back();
  EXPECT_TRUE(world.asked().empty());
}

TEST(RetrainingStage, DoesNotLendASliceThatLeaves) {
  Retrains world;
  world.snapshot.services[0].is_retraining_due = true;
  world.snapshot.slices.change(0).is_leaving = true;
  EXPECT_TRUE(world.asked().empty());
}

TEST(RetrainingStage, WaitsForTheEndOfAFrozenWindow) {
  Retrains world;
  world.scenario.planning = Micros::seconds(2);
  world.scenario.frozen = {{.from = Instant::at_second(10), .until = Instant::at_second(20)}};
  world.snapshot.services[0].is_retraining_due = true;
  const std::vector<std::pair<std::int64_t, bool>> cases = {{7, true}, {8, false}, {17, false}, {18, true}};
  for (const auto& [second, is_asked] : cases) {
    world.snapshot.now = Instant::at_second(second);
    EXPECT_EQ(!world.asked().empty(), is_asked) << second;
  }
}

TEST(RetrainingStage, IsNotMixedWithOtherActions) {
  Retrains world;
  world.snapshot.services[0].is_retraining_due = true;
  Plan plan;
  plan.actions = {destroy(world.large)};
  EXPECT_FALSE(testing::decide(retraining_stage(world.scenario), world.snapshot, plan).has_value());
  EXPECT_EQ(plan.actions.size(), 1U);
}

TEST(HistoryCounts, TakesSecondsBeforeTheRun) {
  Snapshot snapshot;
  snapshot.services.resize(2);
  for (std::int64_t second = -2; second < 2; ++second) {
    ServiceSecond seen;
    seen.second = second;
    seen.arrivals = 10 + second;
    snapshot.services[1].seconds.push_back(seen);
  }
  EXPECT_EQ(history_counts(snapshot), (std::vector<std::vector<std::uint32_t>>{{}, {8, 9}}));
}

}  // namespace
}  // namespace berth
