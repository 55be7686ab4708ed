// A session under the policy `fixed`: whatever happens, the layout of the scenario is restored.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "engine/loop/approval.h"
#include "live/session/demo.h"
#include "live/session/plan_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/fault_book.h"

namespace berth::live {
namespace {

const ServiceName kDetector{.tenant = "vision", .name = "detector"};

/// The demo with slices of its first two services on the first two GPUs.
Scenario with_layout() {
  Scenario scenario = demo_scenario();
  const GpuModel& model = scenario.model_of({0});
  std::vector<Holding>& layout = scenario.layout.emplace();
  for (const std::uint32_t gpu : {0U, 1U}) {
    layout.push_back(
        {.slice = {.gpu = {gpu}, .start = 0, .profile = *mig::find_profile(model, "3g.40gb")}, .services = {{0}}});
    layout.push_back(
        {.slice = {.gpu = {gpu}, .start = 4, .profile = *mig::find_profile(model, "2g.20gb")}, .services = {{1}}});
    layout.push_back(
        {.slice = {.gpu = {gpu}, .start = 6, .profile = *mig::find_profile(model, "1g.10gb")}, .services = {}});
  }
  return scenario;
}

class SessionFixed : public ::testing::Test {
 protected:
  void begin(Approval approval = Approval::kNever) {
    SessionOptions options;
    options.policy = "fixed";
    options.approval = approval;
    auto made = Session::make(with_layout(), std::move(options));
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    run_to(10);
    ASSERT_EQ(ready_count(), 6);
  }
  void run_to(std::int64_t second) {
    while (session_->now() < Instant::at_second(second)) ASSERT_TRUE(session_->advance(Instant::at_second(second)));
  }
  void inject(sim::FaultKind kind, std::optional<std::int64_t> times = std::nullopt) {
    sim::FaultOrder order;
    order.kind = kind;
    order.gpus = {{0}};
    order.times = times;
    ASSERT_TRUE(session_->inject(order));
  }
  /// Slices that work for the holders of the layout, wherever their places are now.
  [[nodiscard]] std::int64_t ready_count() const {
    const Scenario wanted = with_layout();
    const auto name_of = [&](const Scenario& scenario, const Holding& holding) {
      return holding.services.empty() ? "" : scenario.services[holding.services.front().index].name;
    };
    return std::ranges::count_if(session_->snapshot().slices, [&](const StandingSlice& standing) {
      const auto holding = std::ranges::find(*wanted.layout, standing.holding.slice, &Holding::slice);
      return standing.is_ready && holding != wanted.layout->end() &&
             name_of(wanted, *holding) == name_of(session_->scenario(), standing.holding);
    });
  }
  [[nodiscard]] std::size_t plan_count() const { return session_->plans().plans().size(); }

  std::unique_ptr<Session> session_;
};

TEST_F(SessionFixed, NothingIsPlannedWhileNothingIsMissing) {
  begin();
  run_to(100);
  EXPECT_EQ(plan_count(), 1U);
}

TEST_F(SessionFixed, AGpuThatReturnsGetsItsSlices) {
  begin();
  inject(sim::FaultKind::kLose);
  run_to(20);
  EXPECT_EQ(ready_count(), 3);
  inject(sim::FaultKind::kReturn);
  run_to(40);
  EXPECT_EQ(ready_count(), 6);
  EXPECT_EQ(plan_count(), 2U);
}

TEST_F(SessionFixed, ACreationThatFailsIsRepeated) {
  begin();
  inject(sim::FaultKind::kLose);
  inject(sim::FaultKind::kFailCreate, 7);
  inject(sim::FaultKind::kReturn);
  run_to(80);
  EXPECT_EQ(ready_count(), 6);
  EXPECT_GE(plan_count(), 4U);
  EXPECT_LE(plan_count(), 8U);
}

TEST_F(SessionFixed, WhatIsOnlyReportedAsFailedIsFound) {
  begin();
  inject(sim::FaultKind::kLose);
  inject(sim::FaultKind::kReportsFailure, 2);
  inject(sim::FaultKind::kReturn);
  run_to(60);
  EXPECT_EQ(ready_count(), 6);
}

TEST_F(SessionFixed, ADrainedGpuIsFilledAgainWhenItOpens) {
  begin();
  session_->schedule({0}, GpuScheduling::kDraining, "fans");
  run_to(30);
  EXPECT_EQ(ready_count(), 3);
  EXPECT_EQ(session_->snapshot().gpu_state({0}).scheduling, GpuScheduling::kCordoned);
  session_->schedule({0}, GpuScheduling::kOpen, "");
  run_to(60);
  EXPECT_EQ(ready_count(), 6);
}

TEST_F(SessionFixed, AServiceThatIsSetAgainGetsItsSlices) {
  begin();
  const ServiceSpec spec = std::as_const(session_->scenario().services)[0];
  ASSERT_TRUE(session_->remove_service(kDetector));
  ASSERT_TRUE(session_->set_service(kDetector, spec, {}, std::nullopt));  // while its old slices drain
  run_to(40);
  EXPECT_EQ(ready_count(), 6);
  ASSERT_TRUE(session_->remove_service(kDetector));
  run_to(60);
  EXPECT_EQ(ready_count(), 4);
  ServiceSpec other = spec;
  ASSERT_TRUE(session_->set_service({.tenant = "vision", .name = "other"}, other, {}, std::nullopt));
  run_to(80);
  EXPECT_EQ(ready_count(), 4);
  EXPECT_EQ(session_->snapshot().slices.size(), 4U);
  ASSERT_TRUE(session_->set_service(kDetector, spec, {}, std::nullopt));
  run_to(100);
  EXPECT_EQ(ready_count(), 6);
}

TEST_F(SessionFixed, ARestorationNeedsApprovalWherePlansDo) {
  begin(Approval::kAlways);
  inject(sim::FaultKind::kLose);
  inject(sim::FaultKind::kReturn);
  run_to(30);
  EXPECT_EQ(ready_count(), 3);
  const PlanStatus* waiting = session_->plans().current();
  ASSERT_NE(waiting, nullptr);
  ASSERT_EQ(waiting->phase, PlanPhase::kAwaitingApproval);
  EXPECT_EQ(session_->approve(waiting->plan->id, ""), ApprovalOutcome::kAccepted);
  run_to(60);
  EXPECT_EQ(ready_count(), 6);
}

}  // namespace
}  // namespace berth::live
