// The first layout is what `begin` decided, even if it is nothing: whatever comes later takes the time that changes
// take, also at second 0.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/session.h"
#include "sim/testing/scenarios.h"

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
  options.solve_elsewhere = [&](SolveRequest request) { asked.push_back(std::move(request)); };
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

}  // namespace
}  // namespace berth::live
