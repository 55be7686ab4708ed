#include "live/session/plan_log.h"

#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "engine/loop/engine.h"

namespace berth::live {
namespace {

const GpuModel kA100 = *mig::find_gpu_model("A100-80GB");
const Slice one_g{.gpu = {0}, .start = 0, .profile = *mig::find_profile(kA100, "1g.10gb")};
const Slice two_g{.gpu = {1}, .start = 0, .profile = *mig::find_profile(kA100, "2g.20gb")};

Action create(const Slice& slice, std::uint64_t number = 0) {
  return {.what = CreateSlice{slice}, .reason = {}, .number = number};
}
Action destroy(const Slice& slice, std::uint64_t number = 0) {
  return {.what = DestroySlice{slice}, .reason = {}, .number = number};
}
Action give(const Slice& slice, std::uint64_t number = 0) {
  return {
      .what = AssignSlice{.holding = {.slice = slice, .services = {{0}}}, .point = {}}, .reason = {}, .number = number};
}

Plan plan_of(std::uint64_t id, std::vector<Action> actions) {
  Plan plan;
  plan.id = id;
  plan.actions = std::move(actions);
  return plan;
}

StepAnswer accepting(Plan plan) {
  StepAnswer answer;
  answer.plan = std::move(plan);
  return answer;
}

Snapshot at_second(std::int64_t second) {
  Snapshot snapshot;
  snapshot.now = Instant::at_second(second);
  return snapshot;
}

/// Services "s0" and "s1" of tenant "t".
Scenario two_named_services() {
  Scenario scenario;
  scenario.services.resize(2);
  for (std::uint32_t index = 0; index < 2; ++index) {
    scenario.services[index].tenant = "t";
    scenario.services[index].name = "s" + std::to_string(index);
  }
  return scenario;
}

std::vector<ActionChange> add_plan(PlanLog& log, Plan plan, const StepAnswer& answer, const Snapshot& snapshot) {
  return log.add(std::make_shared<const Plan>(std::move(plan)), two_named_services(), answer, snapshot);
}

Event happened(decltype(Event::what) what) { return {.at = Instant(), .what = std::move(what)}; }

std::vector<ActionPhase> phases(const PlanStatus& plan) {
  std::vector<ActionPhase> phases;
  for (std::size_t index = 0; index < plan.actions->size(); ++index) phases.push_back(plan.actions->phase(index));
  return phases;
}

using enum ActionPhase;

TEST(PlanLog, APlanActsUntilItsLastActionIsDone) {
  PlanLog log;
  EXPECT_EQ(log.current(), nullptr);
  const std::vector<Action> actions = {create(one_g), give(one_g), create(two_g)};
  const auto begun =
      add_plan(log, plan_of(1, actions), accepting(plan_of(1, {create(one_g, 1), give(one_g, 2), create(two_g, 1)})),
               at_second(3));
  EXPECT_EQ(begun.size(), 3U);
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kActing);
  EXPECT_EQ(log.find(1)->acts_at, Instant::at_second(3));

  EXPECT_TRUE(log.apply(happened(SliceReady{.slice = one_g, .assignment = 1})).empty());  // not of these holders
  EXPECT_EQ(log.apply(happened(SliceReady{.slice = one_g, .assignment = 2})).size(), 2U);
  EXPECT_EQ(phases(*log.find(1)), (std::vector{kDone, kDone, kRunning}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kActing);
  EXPECT_EQ(log.apply(happened(SliceReady{.slice = two_g, .assignment = 1})),
            (std::vector<ActionChange>{{.plan = 1, .action = 2, .phase = kDone, .message = ""}}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kDone);
  EXPECT_EQ(log.current(), log.find(1));
}

TEST(PlanLog, CountsWhatPlansAndActionsReach) {
  PlanLog log;
  add_plan(log, plan_of(1, {create(one_g), give(one_g)}), accepting(plan_of(1, {create(one_g, 1), give(one_g, 2)})),
           at_second(3));
  log.apply(happened(SliceReady{.slice = one_g, .assignment = 2}));
  StepAnswer refused;
  refused.refused = "no";
  add_plan(log, plan_of(2, {create(two_g)}), refused, at_second(4));
  const auto plans = [&](PlanPhase phase) { return log.counts().plans[static_cast<std::size_t>(phase)]; };
  EXPECT_EQ(plans(PlanPhase::kActing), 1);
  EXPECT_EQ(plans(PlanPhase::kDone), 1);
  EXPECT_EQ(plans(PlanPhase::kRefused), 1);
  constexpr std::size_t kCreations = 0;
  constexpr std::size_t kAssignments = 2;
  EXPECT_EQ(log.counts().actions[kCreations][static_cast<std::size_t>(kDone)], 1);
  EXPECT_EQ(log.counts().actions[kCreations][static_cast<std::size_t>(kDropped)], 1);
  EXPECT_EQ(log.counts().actions[kAssignments][static_cast<std::size_t>(kDone)], 1);
  log.forget_counts();
  EXPECT_EQ(log.counts(), PlanCounts());
  EXPECT_EQ(log.plans().size(), 2U);
}

TEST(PlanLog, TheGapIsAShareOfTheBound) {
  Plan plan;
  EXPECT_EQ(gap_of(plan), std::nullopt);
  plan.objective = 9;
  plan.bound = 10;
  EXPECT_DOUBLE_EQ(*gap_of(plan), 0.1);
  plan.bound = 0;
  EXPECT_EQ(gap_of(plan), std::nullopt);
}

TEST(PlanLog, ADestructionIsDoneWhenThatSliceIsGone) {
  PlanLog log;
  Snapshot snapshot = at_second(3);
  snapshot.slices = {{.holding = {.slice = one_g, .services = {}}, .is_leaving = true, .generation = 7}};
  add_plan(log, plan_of(1, {destroy(one_g)}), accepting(plan_of(1, {destroy(one_g, 9)})), snapshot);
  log.apply(happened(SliceGone{.slice = one_g, .generation = 6}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kActing);
  log.apply(happened(SliceGone{.slice = one_g, .generation = 7}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kDone);
}

TEST(PlanLog, WhatIsDroppedFailedOrReplacedSaysWhy) {
  PlanLog log;
  StepAnswer answer = accepting(plan_of(1, {create(one_g, 1)}));
  answer.dropped = {{.gpu = {1}, .why = "changed"}};
  add_plan(log, plan_of(1, {create(two_g), create(one_g)}), answer, at_second(1));
  EXPECT_EQ(phases(*log.find(1)), (std::vector{kDropped, kRunning}));
  EXPECT_EQ(log.find(1)->actions->message(0), "changed");

  add_plan(log, plan_of(2, {give(one_g)}), accepting(plan_of(2, {give(one_g, 2)})), at_second(2));
  EXPECT_EQ(phases(*log.find(1)), (std::vector{kDropped, kDropped}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kDone);
  EXPECT_EQ(log.find(1)->actions->message(1), "plan 2 decided otherwise before it was done");

  log.apply(happened(GpuLost{.gpu = {0}}));
  EXPECT_EQ(phases(*log.find(2)), std::vector{kFailed});
  EXPECT_EQ(log.find(2)->phase, PlanPhase::kDone);
}

TEST(PlanLog, AFailedCreationIsOneFailureAndThePlanSaysHowMany) {
  PlanLog log;
  add_plan(log, plan_of(1, {create(one_g), give(one_g), create(two_g)}),
           accepting(plan_of(1, {create(one_g, 1), give(one_g, 2), create(two_g, 3)})), at_second(1));
  EXPECT_EQ(log.find(1)->actions->generation(0), 1U);
  log.apply(happened(SliceReady{.slice = two_g, .assignment = 3}));
  EXPECT_EQ(log.find(1)->message, "");
  const auto changes = log.apply(happened(ActionFailed{
      .kind = ActionKind::kCreation, .slice = one_g, .generation = 1, .assignment = 2, .message = "no resources"}));
  EXPECT_EQ(changes, (std::vector<ActionChange>{
                         {.plan = 1, .action = 0, .phase = kFailed, .message = "no resources"},
                         {.plan = 1, .action = 1, .phase = kDropped, .message = "the creation of its slice failed"}}));
  EXPECT_EQ(phases(*log.find(1)), (std::vector{kFailed, kDropped, kDone}));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kDone);
  EXPECT_EQ(log.find(1)->message, "1 of 3 actions failed");
}

TEST(PlanLog, AnAssignmentHasTheGenerationOfTheSliceThatStays) {
  PlanLog log;
  Snapshot snapshot = at_second(3);
  snapshot.slices = {{.holding = {.slice = one_g, .services = {}}, .is_leaving = true, .generation = 7},
                     {.holding = {.slice = one_g, .services = {}}, .generation = 9}};
  add_plan(log, plan_of(1, {give(one_g)}), accepting(plan_of(1, {give(one_g, 12)})), snapshot);
  EXPECT_EQ(log.find(1)->actions->generation(0), 9U);
}

TEST(PlanLog, RefusedOrPausedPlansDropTheirActions) {
  PlanLog log;
  StepAnswer refused;
  refused.refused = "a breach";
  add_plan(log, plan_of(1, {create(one_g)}), refused, at_second(1));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kRefused);
  EXPECT_EQ(log.find(1)->message, "a breach");
  StepAnswer paused;
  paused.paused = "upgrade";
  add_plan(log, plan_of(2, {create(one_g)}), paused, at_second(2));
  EXPECT_EQ(log.find(2)->phase, PlanPhase::kSuperseded);
  EXPECT_EQ(log.find(2)->message, "planning is paused: upgrade");
  EXPECT_EQ(phases(*log.find(2)), std::vector{kDropped});
  EXPECT_FALSE(log.find(2)->acts_at.has_value());
}

TEST(PlanLog, APlanOfWhichNothingIsLeftIsSuperseded) {
  PlanLog log;
  StepAnswer answer;
  answer.dropped = {{.gpu = {0}, .why = "gpu-0 is lost"}};
  add_plan(log, plan_of(1, {create(one_g)}), answer, at_second(1));
  EXPECT_EQ(log.find(1)->phase, PlanPhase::kSuperseded);
  EXPECT_FALSE(log.find(1)->message.empty());
  EXPECT_EQ(phases(*log.find(1)), std::vector{kDropped});
  EXPECT_FALSE(log.find(1)->acts_at.has_value());
}

/// A log with a plan in progress and then one that waits, whose first part was dropped when it arrived.
PlanLog waiting() {
  PlanLog log;
  add_plan(log, plan_of(1, {give(two_g)}), accepting(plan_of(1, {give(two_g, 1)})), at_second(1));
  StepAnswer answer;
  answer.held = plan_of(2, {create(one_g)});
  answer.dropped = {{.gpu = {1}, .why = "changed"}};
  add_plan(log, plan_of(2, {give(two_g), create(one_g)}), answer, at_second(2));
  return log;
}

StepAnswer ending(ProposalEnd end, std::vector<std::string> difference = {}) {
  StepAnswer answer;
  answer.ended = EndedProposal{.plan = 2, .end = end, .difference = std::move(difference)};
  return answer;
}

TEST(PlanLog, AProposalIsPlannedUntilItIsApproved) {
  PlanLog log = waiting();
  EXPECT_EQ(log.find(2)->phase, PlanPhase::kAwaitingApproval);
  EXPECT_EQ(phases(*log.find(2)), (std::vector{kDropped, kPlanned}));
  EXPECT_EQ(log.current(), log.find(2));
  log.set_wall_expiry(2, 77);
  EXPECT_EQ(log.find(2)->expires_at_wall_us, 77);

  StepAnswer approved = ending(ProposalEnd::kApproved);
  approved.plan = plan_of(2, {create(one_g, 5)});
  EXPECT_EQ(log.end_proposal(approved, at_second(9)),
            (std::vector<ActionChange>{{.plan = 2, .action = 1, .phase = kRunning, .message = ""}}));
  EXPECT_EQ(log.find(2)->acts_at, Instant::at_second(9));
  log.apply(happened(SliceReady{.slice = one_g, .assignment = 5}));
  EXPECT_EQ(log.find(2)->phase, PlanPhase::kDone);
  EXPECT_EQ(log.current(), log.find(1));  // it is still in progress
}

TEST(PlanLog, AProposalThatEndsOtherwiseDropsWhatWasPlanned) {
  PlanLog log = waiting();
  EXPECT_EQ(log.end_proposal(ending(ProposalEnd::kExpired), at_second(9)).size(), 1U);
  EXPECT_EQ(log.find(2)->phase, PlanPhase::kExpired);
  EXPECT_EQ(phases(*log.find(2)), (std::vector{kDropped, kDropped}));

  PlanLog other = waiting();
  other.end_proposal(ending(ProposalEnd::kSuperseded, {"gpu-0: a", "gpu-1: b"}), at_second(9));
  EXPECT_EQ(other.find(2)->phase, PlanPhase::kSuperseded);
  EXPECT_EQ(other.find(2)->message, "gpu-0: a; gpu-1: b");
  EXPECT_EQ(other.find(2)->difference, (std::vector<std::string>{"gpu-0: a", "gpu-1: b"}));
}

TEST(PlanLog, AStatusThatWasReadStaysAsItWas) {
  PlanLog log;
  add_plan(log, plan_of(1, {give(one_g), give(two_g)}), accepting(plan_of(1, {give(one_g, 1), give(two_g, 1)})),
           at_second(1));
  const PlanStatus read = *log.find(1);
  log.apply(happened(SliceReady{.slice = one_g, .assignment = 1}));
  log.apply(happened(GpuLost{.gpu = {1}}));
  EXPECT_EQ(phases(read), (std::vector{kRunning, kRunning}));
  EXPECT_EQ(phases(*log.find(1)), (std::vector{kDone, kFailed}));
  EXPECT_EQ(log.find(1)->actions->message(0), "");
  EXPECT_EQ(log.find(1)->actions->message(1), "the GPU was lost");
}

TEST(PlanLog, NamesAreThoseOfWhenThePlanArrived) {
  Scenario scenario = two_named_services();
  Plan plan = plan_of(1, {give(one_g)});
  plan.facts = {{.gpu = {0}, .slices = {}, .services = {{.service = {1}, .revision = 3}}}};
  plan.unmet_floors = ProvenConflict{.constraints = {constraint_of({1}, ConstraintKind::kFloor)}};
  PlanLog log;
  log.add(std::make_shared<const Plan>(plan), scenario, accepting(plan), at_second(1));
  for (std::uint32_t index = 0; index < 2; ++index) {  // others take the places
    ServiceSpec other;
    other.tenant = "u";
    other.name = "other";
    scenario.services.set(index, std::move(other));
  }
  log.add(std::make_shared<const Plan>(plan_of(2, {give(two_g)})), scenario, accepting(plan_of(2, {give(two_g, 1)})),
          at_second(2));
  EXPECT_EQ(*log.find(1)->names->find({0}), (ServiceName{.tenant = "t", .name = "s0"}));
  EXPECT_EQ(*log.find(1)->names->find({1}), (ServiceName{.tenant = "t", .name = "s1"}));
  EXPECT_EQ(log.find(1)->names->find({2}), nullptr);
  EXPECT_EQ(log.find(1)->conflict, std::vector<std::string>{"s1.floor"});
  EXPECT_EQ(*log.find(2)->names->find({0}), (ServiceName{.tenant = "u", .name = "other"}));
  EXPECT_EQ(log.find(2)->names->find({1}), nullptr) << "the plan is not about it";
}

TEST(PlanLog, LargePlansAreForgottenSooner) {
  PlanLog log;
  const std::vector<Action> many(PlanLog::kActionsMax / 2, create(one_g));
  StepAnswer refused;
  refused.refused = "a breach";
  for (std::uint64_t id = 1; id <= 3; ++id) add_plan(log, plan_of(id, many), refused, at_second(1));
  EXPECT_EQ(log.plans().size(), 2U);
  add_plan(log, plan_of(4, std::vector<Action>(PlanLog::kActionsMax + 1, create(one_g))), refused, at_second(1));
  EXPECT_EQ(log.plans().size(), 1U);
  EXPECT_EQ(log.plans().back().plan->id, 4U);
}

TEST(PlanLog, KeepsTheLatestPlans) {
  PlanLog log;
  for (std::uint64_t id = 1; id <= PlanLog::kCapacity + 1; ++id) {
    add_plan(log, plan_of(id * 2, {give(one_g)}), accepting(plan_of(id * 2, {give(one_g, id)})), at_second(1));
  }
  EXPECT_EQ(log.plans().size(), PlanLog::kCapacity);
  EXPECT_EQ(log.find(2), nullptr);
  EXPECT_EQ(log.find(5), nullptr);
  EXPECT_NE(log.find(4), nullptr);
}

}  // namespace
}  // namespace berth::live
