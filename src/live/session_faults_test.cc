#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "live/demo.h"
#include "live/session.h"

namespace berth::live {
namespace {

/// The demo under its planner, until a second; then a fault, and on.
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
