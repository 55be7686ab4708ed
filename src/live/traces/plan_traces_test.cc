#include "live/traces/plan_traces.h"

#include <gmock/gmock.h>

#include "domain/mig/catalogue.h"
#include "engine/loop/engine.h"
#include "live/session/object_names.h"

namespace berth::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const GpuModel kModel = *mig::find_gpu_model("A100-80GB");
const Slice first_slice{.gpu = {0}, .start = 0, .profile = *mig::find_profile(kModel, "1g.10gb")};
const Slice second_slice{.gpu = {1}, .start = 0, .profile = *mig::find_profile(kModel, "2g.20gb")};

/// Services "s0" and "s1" of tenant "t" on two GPUs, each a node.
Scenario two_services() {
  Scenario scenario;
  scenario.fleet = {{.model = kModel, .count = 2, .usd_per_gpu_hour = {}}};
  scenario.gpus_per_node = 1;
  scenario.services.resize(2);
  for (std::uint32_t index = 0; index < 2; ++index) {
    scenario.services[index].tenant = "t";
    scenario.services[index].name = "s" + std::to_string(index);
  }
  return scenario;
}

Action create(const Slice& slice) { return {.what = CreateSlice{slice}, .reason = {}, .number = 1}; }
Action give(const Slice& slice, std::uint32_t service) {
  return {.what = AssignSlice{.holding = {.slice = slice, .services = {{service}}}, .point = {}},
          .reason = {},
          .number = 2};
}

class PlanTracesTest : public ::testing::Test {
 protected:
  PlanTracesTest() {
    recorder_.begin = [this](const std::optional<TraceContext>&, bool) -> std::optional<Span> {
      if (is_off_) return std::nullopt;
      Span span;
      span.trace.bytes = {0xff};
      span.id = recorder_.next_id();
      return span;
    };
    recorder_.next_id = [this] { return SpanId{.bytes = {static_cast<std::uint8_t>(++ids_)}}; };
    recorder_.end = [this](Span span) { spans_.push_back(std::move(span)); };
    recorder_.now_us = [this] { return now_us_; };
    traces_ = std::make_unique<PlanTraces>(recorder_);
  }

  TraceContext write(const ObjectName& object) {
    const TraceContext context{.trace = {.bytes = {++writes_}}, .span = {.bytes = {writes_}}, .is_sampled = true};
    traces_->on_write({.context = context, .object = object}, snapshot_.now);
    return context;
  }
  /// A plan that answers that question takes effect.
  void act(std::uint64_t question, std::vector<Action> actions) {
    Plan plan;
    plan.id = question;
    plan.actions = std::move(actions);
    StepAnswer answer;
    answer.plan = plan;
    log_.add(std::make_shared<const Plan>(plan), scenario_, answer, snapshot_);
    traces_->on_plan(*log_.find(question), snapshot_, scenario_);
  }
  void happen(decltype(Event::what) what) {
    for (const ActionChange& change : log_.apply({.at = snapshot_.now, .what = std::move(what)})) {
      traces_->on_action(*log_.find(change.plan), change);
    }
  }
  std::vector<Span> named(const std::string& name) const {
    std::vector<Span> found;
    std::ranges::copy_if(spans_, std::back_inserter(found), [&](const Span& span) { return span.name == name; });
    return found;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Span& span : spans_) names.push_back(span.name);
    return names;
  }

  const Scenario scenario_ = two_services();
  const ObjectName first_service_ = service_object(scenario_.services[0]);
  SpanRecorder recorder_;
  PlanLog log_;
  Snapshot snapshot_;
  std::vector<Span> spans_;
  std::unique_ptr<PlanTraces> traces_;
  std::int64_t now_us_ = 1'000;
  std::uint64_t ids_ = 100;
  std::uint8_t writes_ = 0;
  bool is_off_ = false;
};

TEST_F(PlanTracesTest, APlanIsBelowItsWriteAndEndsWithItsLastAction) {
  const TraceContext caller = write(first_service_);
  traces_->on_question(1);
  now_us_ = 5'000;
  traces_->on_solved(1, 3.0);
  traces_->on_commit({.begin_us = 5'100, .end_us = 5'200}, false, snapshot_.now);
  now_us_ = 6'000;
  act(1, {create(first_slice), give(first_slice, 0)});
  EXPECT_THAT(names(), ElementsAre("solve", "journal.commit"));
  now_us_ = 9'000;
  happen(SliceReady{.slice = first_slice, .assignment = 2});
  EXPECT_THAT(names(), UnorderedElementsAre("solve", "journal.commit", "slice.create", "slice.assign", "plan"));
  const Span plan = spans_.back();
  EXPECT_EQ(plan.trace, caller.trace);
  EXPECT_EQ(plan.parent, caller.span);
  EXPECT_EQ(plan.begin_us, 1'000);
  EXPECT_EQ(plan.end_us, 9'000);
  EXPECT_FALSE(plan.failure);
  for (std::size_t i = 0; i + 1 < spans_.size(); ++i) EXPECT_EQ(spans_[i].parent, plan.id);
  EXPECT_EQ(spans_[0].end_us, 4'000);
  EXPECT_EQ(named("slice.create")[0].begin_us, 6'000);
  EXPECT_THAT(plan.links, IsEmpty());
}

TEST_F(PlanTracesTest, LaterWritesAreLinksAndThoseAfterTheQuestionBelongToTheNextPlan) {
  const TraceContext first = write({.kind = ObjectKind::kNode, .tenant = "", .name = "node-0"});
  const TraceContext second = write(gpu_object({0}));
  const TraceContext elsewhere = write(gpu_object({1}));
  traces_->on_question(1);
  const TraceContext late = write(first_service_);
  act(1, {create(first_slice), give(first_slice, 0)});
  happen(SliceReady{.slice = first_slice, .assignment = 2});
  traces_->on_question(2);
  act(2, {create(second_slice), give(second_slice, 0)});
  happen(SliceReady{.slice = second_slice, .assignment = 2});
  const auto plans = named("plan");
  ASSERT_THAT(plans, SizeIs(2));
  EXPECT_EQ(plans[0].parent, first.span);
  EXPECT_THAT(plans[0].links, ElementsAre(SpanLink{.trace = second.trace, .span = second.span}));
  EXPECT_EQ(plans[1].parent, elsewhere.span);
  EXPECT_THAT(plans[1].links, ElementsAre(SpanLink{.trace = late.trace, .span = late.span}));
}

TEST_F(PlanTracesTest, APlanWithoutAWriteIsATraceOfItsOwnIfItIsRecorded) {
  act(7, {create(first_slice)});
  happen(ActionFailed{
      .kind = ActionKind::kCreation, .slice = first_slice, .generation = 1, .assignment = 1, .message = "no"});
  ASSERT_THAT(named("plan"), SizeIs(1));
  EXPECT_FALSE(named("plan")[0].parent);
  EXPECT_EQ(named("plan")[0].failure, "1 of 1 actions failed");
  EXPECT_EQ(named("slice.create")[0].failure, "no");
  spans_.clear();
  is_off_ = true;
  act(8, {create(second_slice)});
  happen(GpuLost{.gpu = {1}, .reason = ""});
  EXPECT_THAT(spans_, IsEmpty());
}

TEST_F(PlanTracesTest, WhatIsUnderWayAtTheEndIsUnfinished) {
  act(1, {create(first_slice)});
  traces_->end_all();
  EXPECT_THAT(names(), ElementsAre("slice.create", "plan"));
  EXPECT_EQ(spans_[1].attributes.back(), SpanAttribute("berth.unfinished", true));
  happen(GpuLost{.gpu = {0}, .reason = ""});
  EXPECT_THAT(spans_, SizeIs(2));
}

TEST_F(PlanTracesTest, ALoneWriteIsNotedWithItsFirstCommit) {
  const auto lone = std::make_shared<WriteTrace>(
      WriteTrace{.context = {.trace = {.bytes = {9}}, .span = {.bytes = {9}}}, .object = gpu_object({0})});
  traces_->set_lone(lone);
  traces_->on_commit({.begin_us = 1, .end_us = 2}, true, snapshot_.now);
  traces_->on_commit({.begin_us = 3, .end_us = 4}, true, snapshot_.now);
  traces_->set_lone(nullptr);
  ASSERT_TRUE(lone->commit);
  EXPECT_EQ(lone->commit->end_us, 2);
  act(1, {create(first_slice)});
  happen(GpuLost{.gpu = {0}, .reason = ""});
  EXPECT_EQ(named("plan")[0].parent, lone->context.span);
  EXPECT_THAT(named("plan"), SizeIs(1));
}

TEST_F(PlanTracesTest, ALargePlanHasAThousandActionsAndEndsWithAllOfThem) {
  std::vector<Action> actions;
  Scenario scenario = two_services();
  for (int i = 0; i < 1'001; ++i) {
    Action action = create(first_slice);
    action.number = static_cast<std::uint64_t>(i + 1);
    actions.push_back(action);
  }
  act(1, actions);
  for (std::uint64_t number = 1; number <= 1'000; ++number) {
    happen(SliceReady{.slice = first_slice, .assignment = number});
  }
  EXPECT_THAT(named("slice.create"), SizeIs(PlanTraces::kActionSpansMax));
  EXPECT_THAT(named("plan"), IsEmpty());
  happen(SliceReady{.slice = first_slice, .assignment = 1'001});
  EXPECT_THAT(named("slice.create"), SizeIs(PlanTraces::kActionSpansMax));
  EXPECT_THAT(named("plan"), SizeIs(1));
}

}  // namespace
}  // namespace berth::live
