#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "live/session/demo.h"
#include "live/session/event_log.h"
#include "live/session/lost_slices.h"
#include "live/session/plan_log.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/fault_book.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

/// The demo under its planner, until a second; then a fault, and further on.
class SessionFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Session::make(demo_scenario(), {});
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    run_to(10);
  }
  void run_to(std::int64_t second) {
    while (session_->now() < Instant::at_second(second)) ASSERT_TRUE(session_->advance(Instant::at_second(second)));
  }
  void inject(sim::FaultKind kind, std::optional<std::int64_t> times = std::nullopt) {
    sim::FaultOrder order;
    order.kind = kind;
    for (std::uint32_t gpu = 0; gpu < session_->scenario().gpu_count(); ++gpu) order.gpus.push_back({gpu});
    order.times = times;
    ASSERT_TRUE(session_->inject(order));
  }
  [[nodiscard]] std::size_t count(EventKind kind) const {
    const EventLog& log = session_->events();
    const auto events = log.after(log.oldest_sequence() - 1, EventLog::kCapacity);
    return static_cast<std::size_t>(std::ranges::count(events, kind, &LoggedEvent::kind));
  }
  std::unique_ptr<Session> session_;
};

TEST_F(SessionFaults, AnOrderForNoGpuInAJournalIsRepeated) {
  sim::FaultOrder order;
  order.kind = sim::FaultKind::kClear;
  EXPECT_TRUE(session_->inject(order));
}

TEST_F(SessionFaults, ALossIsSeenAtOnceAndOnceOnly) {
  sim::FaultOrder order;
  order.kind = sim::FaultKind::kLose;
  order.gpus = {{0}};
  ASSERT_TRUE(session_->inject(order));
  EXPECT_EQ(session_->snapshot().gpu_state({0}).health, GpuHealth::kLost);
  ASSERT_TRUE(session_->inject(order));
  EXPECT_EQ(count(EventKind::kGpuLost), 1U);
  order.kind = sim::FaultKind::kReturn;
  ASSERT_TRUE(session_->inject(order));
  ASSERT_TRUE(session_->inject(order));
  EXPECT_EQ(session_->snapshot().gpu_state({0}).health, GpuHealth::kOk);
  EXPECT_EQ(count(EventKind::kGpuReturned), 1U);
  EXPECT_EQ(count(EventKind::kFaultInjected), 4U);
  EXPECT_TRUE(session_->faults().is_empty());
}

TEST_F(SessionFaults, PlansGoOnAfterActionsThatFail) {
  inject(sim::FaultKind::kFailCreate, 1);
  inject(sim::FaultKind::kLose);
  inject(sim::FaultKind::kReturn);  // all are empty, so plans create slices
  run_to(40);
  EXPECT_GE(count(EventKind::kActionFailed), 1U);
  const auto& slices = session_->snapshot().slices;
  EXPECT_TRUE(std::ranges::any_of(
      slices, [](const StandingSlice& standing) { return standing.is_ready && !standing.holding.services.empty(); }));
  const auto has_failed_action = [](const PlanStatus& plan) {
    bool has_failed = false;
    for (std::size_t index = 0; index < plan.actions->size(); ++index) {
      const bool is_failed = plan.actions->phase(index) == ActionPhase::kFailed;
      has_failed = has_failed || (is_failed && !plan.actions->message(index).empty());
    }
    return plan.phase == PlanPhase::kDone && has_failed;
  };
  EXPECT_TRUE(std::ranges::any_of(session_->plans().plans(), has_failed_action));
}

/// Injects a fault until it is cleared.
sim::FaultOrder fault_of(sim::FaultKind kind, GpuId gpu) {
  sim::FaultOrder order;
  order.kind = kind;
  order.gpus = {gpu};
  return order;
}

/// A session of two GPUs, to which a service is added.
struct OneServiceOnTwoGpus {
  std::unique_ptr<Session> session;

  OneServiceOnTwoGpus() {
    Scenario scenario = sim::testing::scenario_of({}, {}, 2);
    scenario.layout.reset();
    session = std::move(*Session::make(std::move(scenario), {}));
    session->begin();
  }
  void set_service() {
    const ServiceSpec spec =
        sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 10}},
                                 sim::testing::generated(Generator::Kind::kConstant, Decimal(20), 60));
    ASSERT_TRUE(session->set_tenant("t", {}, std::nullopt).has_value());
    ASSERT_TRUE(session->set_service({.tenant = "t", .name = "a"}, spec, {}, std::nullopt).has_value());
  }
  /// The first GPU with a planned change, before any of it is done.
  [[nodiscard]] std::optional<GpuId> first_choice() {
    for (std::int64_t second = 0; second < 30 && session->snapshot().slices.empty(); ++second) run_to(second);
    if (session->snapshot().slices.empty()) return std::nullopt;
    return session->snapshot().slices.front().holding.slice.gpu;
  }
  void run_to(std::int64_t second) {
    while (session->now() < Instant::at_second(second)) session->advance(Instant::at_second(second));
  }
  [[nodiscard]] bool serves() const {
    return std::ranges::any_of(session->snapshot().slices, [](const StandingSlice& standing) {
      return standing.is_ready && !standing.holding.services.empty();
    });
  }
};

TEST(Failures, CreationsThatFailForEverOnOneGpuLeaveTheOther) {
  OneServiceOnTwoGpus world;
  world.set_service();
  const auto gpu = world.first_choice();
  ASSERT_TRUE(gpu.has_value());
  const std::int64_t begun = world.session->now().second();
  ASSERT_TRUE(world.session->inject(fault_of(sim::FaultKind::kFailCreate, *gpu)));
  world.run_to(begun + 60);
  EXPECT_TRUE(world.serves());
  EXPECT_NE(world.session->snapshot().slices.front().holding.slice.gpu, *gpu);
}

TEST(Failures, CreationsThatTakeForEverOnOneGpuLeaveTheOther) {
  OneServiceOnTwoGpus slow;
  sim::FaultOrder order = fault_of(sim::FaultKind::kSlow, {0});
  order.duration = kActionTimeMax + Micros::seconds(60);
  ASSERT_TRUE(slow.session->inject(order));
  slow.set_service();
  ASSERT_EQ(slow.first_choice(), GpuId{0});
  const Micros until = kActionTimeMax + Micros::seconds(30);
  slow.run_to(slow.session->now().second() + until.count() / kMicrosPerSecond);
  EXPECT_TRUE(slow.serves());
}

TEST(Failures, ADestructionThatFailsForEverIsTriedAgainLessAndLessOften) {
  OneServiceOnTwoGpus world;
  world.set_service();
  const auto gpu = world.first_choice();
  ASSERT_TRUE(gpu.has_value());
  world.run_to(60);
  ASSERT_TRUE(world.serves());
  ASSERT_TRUE(world.session->inject(fault_of(sim::FaultKind::kFailDestroy, *gpu)));
  world.session->schedule(*gpu, GpuScheduling::kDraining, "test");
  const auto failed = [&] {
    const auto events = world.session->events().after(0, EventLog::kCapacity);
    return std::ranges::count(events, EventKind::kActionFailed, &LoggedEvent::kind);
  };
  world.run_to(300);
  const auto until_then = failed();
  EXPECT_GE(until_then, 4);
  world.run_to(540);
  EXPECT_LE(failed() - until_then, 5) << "one per minute";
  EXPECT_GE(failed() - until_then, 3);
}

TEST_F(SessionFaults, SlicesOfALostGpuAreLostUntilItReturns) {
  const auto standing = session_->snapshot().slices_on({0});
  const std::vector<StandingSlice> before(standing.begin(), standing.end());
  ASSERT_FALSE(before.empty());
  const auto lost_on = [&](std::uint32_t gpu) { return session_->lost_slices().on(session_->snapshot(), {gpu}); };
  EXPECT_TRUE(lost_on(0).empty());
  session_->refresh();
  const Instant seen_at =
      session_->watch().seen_at(static_cast<std::size_t>(standing.begin() - session_->snapshot().slices.begin()));
  sim::FaultOrder order;
  order.kind = sim::FaultKind::kLose;
  order.gpus = {{0}};
  ASSERT_TRUE(session_->inject(order));
  ASSERT_EQ(lost_on(0).size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(lost_on(0)[i]->slice.holding, before[i].holding);
    EXPECT_EQ(lost_on(0)[i]->slice.generation, before[i].generation);
  }
  EXPECT_EQ(lost_on(0).front()->seen_at, seen_at);
  EXPECT_TRUE(lost_on(1).empty());
  const ServiceId holder = before.front().holding.services.front();
  EXPECT_FALSE(session_->lost_slices().of(session_->snapshot(), holder).empty());
  run_to(20);
  EXPECT_EQ(lost_on(0).size(), before.size());

  const ServiceSpec& spec = session_->scenario().services[holder.index];
  ASSERT_TRUE(session_->remove_service({.tenant = spec.tenant, .name = spec.name}));
  EXPECT_TRUE(session_->lost_slices().of(session_->snapshot(), holder).empty());
  EXPECT_LT(lost_on(0).size(), before.size());
  order.kind = sim::FaultKind::kReturn;
  ASSERT_TRUE(session_->inject(order));
  EXPECT_TRUE(session_->lost_slices().all(session_->snapshot()).empty());
}

TEST_F(SessionFaults, EventsNameSlicesAsTheyAreListed) {
  run_to(60);
  const EventLog& log = session_->events();
  std::size_t seen = 0;
  for (const LoggedEvent& event : log.after(log.oldest_sequence() - 1, EventLog::kCapacity)) {
    if (event.object.kind != ObjectKind::kGpuSlice) continue;
    ++seen;
    ASSERT_TRUE(event.generation.has_value()) << event.object.name;
    EXPECT_TRUE(event.object.name.ends_with("-" + std::to_string(*event.generation))) << event.object.name;
    if (event.object.tenant.empty()) {
      EXPECT_EQ(event.message, "unowned");
    } else {
      EXPECT_TRUE(event.message.starts_with(event.object.tenant + "/")) << event.message;
    }
  }
  EXPECT_GT(seen, 0U);
}

TEST_F(SessionFaults, AFailedCreationIsOneEvent) {
  sim::FaultOrder order;
  order.gpus = {{0}};
  for (const sim::FaultKind kind : {sim::FaultKind::kLose, sim::FaultKind::kReturn}) {
    order.kind = kind;
    ASSERT_TRUE(session_->inject(order));
  }
  const std::size_t before = count(EventKind::kActionFailed);
  order.kind = sim::FaultKind::kFailCreate;
  order.times = 1;
  ASSERT_TRUE(session_->inject(order));
  for (std::int64_t second = 11; second < 90 && !session_->faults().is_empty(); ++second) run_to(second);
  ASSERT_TRUE(session_->faults().is_empty());
  EXPECT_EQ(count(EventKind::kActionFailed), before + 1);
}

TEST_F(SessionFaults, WhatWaitsIsCleared) {
  inject(sim::FaultKind::kReportsFailure, 5);
  inject(sim::FaultKind::kSlow);
  EXPECT_EQ(session_->faults().waiting().size(), 2U);
  inject(sim::FaultKind::kClear);
  EXPECT_TRUE(session_->faults().is_empty());
  EXPECT_EQ(count(EventKind::kFaultCleared), 2U);
}

}  // namespace
}  // namespace berth::live
