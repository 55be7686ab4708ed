// The first layout is what `begin` decided, even if it is empty: later changes take their normal time, also at second
// 0. On existing devices the first layout takes that time, too.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/loop/engine.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/plan_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/recovery.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

ServiceSpec some_service() {
  return sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 10}},
                                  sim::testing::generated(Generator::Kind::kConstant, Decimal(20), 60));
}

Scenario fleet_without_services() {
  Scenario scenario = sim::testing::scenario_of({}, {}, 2);
  scenario.layout.reset();
  return scenario;
}

std::unique_ptr<Session> session_of(Scenario scenario, SessionOptions options) {
  options.policy = "berth";
  auto session = Session::make(std::move(scenario), std::move(options));
  EXPECT_TRUE(session.has_value());
  return std::move(*session);
}

void set(Session& session, const std::string& name) {
  if (!session.catalog().tenants.contains("t")) {
    ASSERT_TRUE(session.set_tenant("t", {}, std::nullopt).has_value());
  }
  ASSERT_TRUE(session.set_service({.tenant = "t", .name = name}, some_service(), {}, std::nullopt).has_value());
}

void run_to(Session& session, std::int64_t second) {
  while (session.advance(Instant::at_second(second))) {
  }
}

/// When the first slice was created; absent: none was.
std::optional<Instant> first_created(const Session& session) {
  for (const LoggedEvent& event : session.events().after(0, EventLog::kCapacity)) {
    if (event.kind == EventKind::kSliceCreated) return event.at;
  }
  return std::nullopt;
}

TEST(FirstLayout, AServiceThatIsSetAtSecondZeroTakesItsTime) {
  const Scenario scenario = fleet_without_services();
  const auto session = session_of(scenario, {});
  session->begin();
  set(*session, "a");
  ASSERT_EQ(session->now(), Instant());
  run_to(*session, 60);
  ASSERT_TRUE(first_created(*session).has_value());
  EXPECT_GE(*first_created(*session), Instant() + scenario.changes.create);
}

TEST(FirstLayout, APlanForItNeedsApproval) {
  SessionOptions options;
  options.approval = Approval::kFirst;
  const auto session = session_of(fleet_without_services(), std::move(options));
  session->begin();
  set(*session, "a");
  run_to(*session, 60);
  ASSERT_FALSE(session->plans().plans().empty());
  EXPECT_EQ(session->plans().plans().front().phase, PlanPhase::kAwaitingApproval);
  EXPECT_FALSE(first_created(*session).has_value());
}

TEST(FirstLayout, WhatTheFileStatesIsInPlaceAtSecondZero) {
  Scenario scenario = sim::testing::scenario_of({some_service()}, {}, 2);
  scenario.layout.reset();
  const auto session = session_of(std::move(scenario), {});
  session->begin();
  run_to(*session, 1);
  EXPECT_EQ(first_created(*session), Instant());
}

TEST(FirstLayout, AServiceThatComesBeforeItsAnswerIsNotPartOfIt) {
  Scenario scenario = sim::testing::scenario_of({some_service()}, {}, 2);
  scenario.layout.reset();
  const Micros create = scenario.changes.create;
  std::vector<SolveRequest> asked;
  SessionOptions options;
  options.solving = sim::Solving::kElsewhere;
  options.listener.question = [&](SolveRequest request) { asked.push_back(std::move(request)); };
  const auto session = session_of(std::move(scenario), std::move(options));
  session->begin();
  ASSERT_EQ(asked.size(), 1U);
  set(*session, "b");
  const auto answer = [&] {
    const SolveRequest request = std::move(asked.back());
    asked.clear();
    session->answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
    session->advance(session->now());
  };
  answer();
  const std::size_t first_count = session->snapshot().slices.size();
  EXPECT_GT(first_count, 0U);
  EXPECT_EQ(first_created(*session), Instant());
  for (std::int64_t second = 1; second <= 60; ++second) {
    run_to(*session, second);
    if (!asked.empty()) answer();
  }
  std::size_t later = 0;
  for (const LoggedEvent& event : session->events().after(0, EventLog::kCapacity)) {
    if (event.kind != EventKind::kSliceCreated || event.at == Instant()) continue;
    ++later;
    EXPECT_GE(event.at, Instant() + create);
  }
  EXPECT_GT(later, 0U) << "the other service gets its slice";
}

// ---- one that takes its time

/// A session whose first layout takes its time, with what is needed to rebuild it.
class LayoutWithTime : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Session> make() {
    Scenario scenario = sim::testing::scenario_of({some_service()}, {}, 2);
    scenario.layout.reset();
    create_ = scenario.changes.create;
    SessionOptions options;
    options.first_layout_takes_time = true;
    options.approval = approval_;
    options.no_changes = windows_;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    if (solves_elsewhere_) {
      options.solving = sim::Solving::kElsewhere;
      options.listener.question = [this](SolveRequest request) { asked_ = std::move(request); };
    }
    return session_of(std::move(scenario), std::move(options));
  }
  void begin() {
    session_ = make();
    session_->begin();
  }
  void answer() {
    ASSERT_TRUE(asked_.has_value());
    const SolveRequest request = *std::exchange(asked_, std::nullopt);
    session_->answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
    session_->advance(session_->now());
  }
  /// The process ends, and another one continues.
  void restart() {
    session_->emit_all();
    sim::WorldLeft left = session_->world_left();
    const std::unique_ptr<Session> before = std::move(session_);
    asked_.reset();
    session_ = make();
    session_->repeat(std::vector(entries_), left.world.orders);
    EXPECT_EQ(testing::find_differences(*before, *session_), std::vector<std::string>());
    session_->resume(std::move(left));
  }
  /// When slices were created.
  [[nodiscard]] std::vector<Instant> created() const {
    std::vector<Instant> at;
    for (const LoggedEvent& event : session_->events().after(0, EventLog::kCapacity)) {
      if (event.kind == EventKind::kSliceCreated) at.push_back(event.at);
    }
    return at;
  }

  Approval approval_ = Approval::kNever;
  NoChanges windows_;
  bool solves_elsewhere_ = false;
  Micros create_;
  std::vector<Entry> entries_;
  std::optional<SolveRequest> asked_;
  std::unique_ptr<Session> session_;
};

TEST_F(LayoutWithTime, ItsSlicesAreCreatedInTheUsualTime) {
  begin();
  ASSERT_FALSE(session_->snapshot().slices.empty());
  EXPECT_FALSE(session_->snapshot().slices.front().is_ready);
  run_to(*session_, 60);
  ASSERT_FALSE(created().empty());
  EXPECT_EQ(created().front(), Instant() + create_);
}

TEST_F(LayoutWithTime, WithApprovalItWaits) {
  for (const Approval approval : {Approval::kFirst, Approval::kAlways}) {
    approval_ = approval;
    begin();
    run_to(*session_, 30);
    const PlanStatus& first = session_->plans().plans().front();
    EXPECT_EQ(first.phase, PlanPhase::kAwaitingApproval);
    EXPECT_TRUE(created().empty());
    EXPECT_EQ(session_->approve(first.plan->id, ""), ApprovalOutcome::kAccepted);
    run_to(*session_, 60);
    ASSERT_FALSE(created().empty());
    EXPECT_EQ(created().front(), Instant::at_second(30) + create_);
  }
}

TEST_F(LayoutWithTime, WhilePlanningIsPausedThereIsNone) {
  solves_elsewhere_ = true;
  begin();
  EXPECT_TRUE(session_->pause("test"));
  answer();
  run_to(*session_, 30);
  EXPECT_TRUE(session_->snapshot().slices.empty());
  EXPECT_TRUE(session_->resume("test"));
  answer();
  run_to(*session_, 60);
  ASSERT_FALSE(created().empty());
  EXPECT_GE(created().front(), Instant::at_second(30) + create_);
}

TEST_F(LayoutWithTime, InAWindowWithoutChangesThereIsNone) {
  windows_ = {.week_at_start = {}, .spans = {{.from_minute = 0, .until_minute = 2}}};
  begin();
  run_to(*session_, 119);
  EXPECT_TRUE(session_->snapshot().slices.empty());
  run_to(*session_, 180);
  ASSERT_FALSE(created().empty());
  EXPECT_GE(created().front(), Instant::at_second(120) + create_);
}

TEST_F(LayoutWithTime, AKillBeforeOrAfterItChangesNothing) {
  solves_elsewhere_ = true;
  begin();
  restart();  // the question is asked again
  answer();
  EXPECT_FALSE(session_->snapshot().slices.empty());
  restart();  // its slices are being created
  EXPECT_TRUE(created().empty());
  run_to(*session_, 3);
  restart();
  run_to(*session_, 60);
  const std::vector<Instant> all = created();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), Instant() + create_);
  restart();
  EXPECT_EQ(created(), all);
}

}  // namespace
}  // namespace berth::live
