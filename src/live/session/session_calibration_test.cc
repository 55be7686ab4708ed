// What is measured corrects what is decided: speed factors and judged forecasts, also after a restart.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/forecast_book.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/speed_estimator.h"
#include "sim/world/fault_book.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

using sim::testing::a100;
using sim::testing::generated;
using sim::testing::scenario_of;
using sim::testing::service_of;

constexpr std::int64_t kLongSeconds = 86'400;

class SessionCalibrationTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Session> make_session(bool tells, bool learns = true) {
    const std::vector<sim::testing::Row> rows = {{.profile = "1g.10gb", .batch = 1, .latency_ms = 20},
                                                 {.profile = "1g.10gb", .batch = 4, .latency_ms = 40},
                                                 {.profile = "2g.20gb", .batch = 4, .latency_ms = 24}};
    const auto arrivals = [](std::int64_t per_second) {
      return generated(Generator::Kind::kPoisson, Decimal(per_second), kLongSeconds);
    };
    Scenario scenario = scenario_of({service_of("a", rows, arrivals(100)), service_of("b", rows, arrivals(50))}, {}, 1);
    for (ServiceSpec& service : scenario.services) service.batching = {};
    scenario.layout.reset();
    SessionOptions options;
    options.learns_speed = learns;
    options.planning_seconds = 10;
    if (tells) options.listener.entry = [this](const Entry& entry) { told_.push_back(entry); };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }
  void advance_to(std::int64_t second) const {
    const Instant until = Instant::at_second(second);
    while (session_->advance(until)) {
    }
  }
  void inject(std::int64_t factor_percent, std::int64_t jitter_percent) const {
    sim::FaultOrder order;
    order.kind = sim::FaultKind::kServing;
    order.serving = sim::ServingFault{
        .service = ServiceId{0}, .factor = Decimal(factor_percent, 100), .jitter = Decimal(jitter_percent, 100)};
    const auto id = session_->inject(order);
    ASSERT_TRUE(id.has_value());
  }
  [[nodiscard]] static std::vector<LoggedEvent> drifts(const Session& session) {
    std::vector<LoggedEvent> found;
    for (LoggedEvent& event : session.events().after(session.events().oldest_sequence() - 1, 10'000)) {
      if (event.kind == EventKind::kSpeedDrift) found.push_back(std::move(event));
    }
    return found;
  }
  [[nodiscard]] static double capacity_of(const Session& session, ServiceId service) {
    double sum = 0;
    for (const StandingSlice& standing : session.snapshot().slices) {
      for (const ServiceId holder : standing.holding.services) {
        if (holder == service) sum += session.figures().rate_on(service, standing);
      }
    }
    return sum;
  }

  std::vector<Entry> told_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionCalibrationTest, WithoutAFaultNothingIsLearned) {
  session_ = make_session(true);
  session_->begin();
  advance_to(900);
  EXPECT_TRUE(session_->scenario().speeds.empty());
  EXPECT_TRUE(drifts(*session_).empty());
}

TEST_F(SessionCalibrationTest, AFactorIsFoundAndCountedOn) {
  session_ = make_session(true);
  session_->begin();
  advance_to(120);
  inject(130, 20);
  advance_to(120 + 600);
  const std::vector<LoggedEvent> events = drifts(*session_);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().object.name, "a");
  EXPECT_NE(events.front().message.find("x the table's time"), std::string::npos) << events.front().message;
  ASSERT_FALSE(session_->scenario().speeds.empty());
  for (const auto& [place, speed] : session_->scenario().speeds) {
    EXPECT_EQ(place.service, ServiceId{0});
    EXPECT_NEAR(speed.factor.to_double(), 1.3, 0.039);
  }
}

TEST_F(SessionCalibrationTest, CapacitiesCountOnIt) {
  session_ = make_session(true);
  session_->begin();
  advance_to(120);
  inject(200, 0);
  const auto per_slice = [&] {
    const StandingSlice slice{.holding = sim::testing::holding_of(sim::testing::slice_at(0, "1g.10gb", 0), {0}),
                              .point = PointChoice{.variant = 0, .batch = 1, .processes = 1}};
    return session_->figures().rate_on({0}, slice);
  };
  EXPECT_EQ(per_slice(), 50);
  advance_to(700);
  ASSERT_FALSE(session_->scenario().speeds.empty());
  EXPECT_NEAR(per_slice(), 25, 1);
  EXPECT_GT(capacity_of(*session_, {0}), 0);
}

/// By the table a batch of 4 takes 40 ms of the 100, and a request may wait as long; at 52 ms it may not.
TEST_F(SessionCalibrationTest, SlicesThatStayMoveToTheBestPoint) {
  session_ = make_session(true);
  session_->begin();
  const auto batches = [&] {
    std::set<int> found;
    for (const StandingSlice& standing : session_->snapshot().staying()) {
      const Holding& holding = standing.holding;
      const bool is_its = holding.services == std::vector<ServiceId>{{0}};
      if (is_its && profile_name(a100(), holding.slice.profile) == "1g.10gb") found.insert(standing.point->batch);
    }
    return found;
  };
  advance_to(120);
  EXPECT_EQ(batches(), std::set<int>{4});
  inject(130, 0);
  advance_to(400);
  ASSERT_FALSE(session_->scenario().speeds.empty());
  EXPECT_EQ(batches(), std::set<int>{1});
  // Nobody asks it any more: the factor ends after half an hour, and what it moved moves back.
  ServiceSpec quiet = std::as_const(session_->scenario().services)[0];
  quiet.arrivals = {};
  ASSERT_TRUE(session_->set_tenant("a", {}, std::nullopt).has_value());
  ASSERT_TRUE(session_->set_service({.tenant = "a", .name = "a"}, std::move(quiet), {}, std::nullopt).has_value());
  advance_to(400 + 1'900);
  EXPECT_TRUE(session_->scenario().speeds.empty());
  EXPECT_EQ(batches(), std::set<int>{4});
}

TEST_F(SessionCalibrationTest, ReportsOnlyIfItDoesNotLearn) {
  session_ = make_session(true, /*learns=*/false);
  session_->begin();
  advance_to(120);
  inject(130, 20);
  advance_to(1'320);
  EXPECT_FALSE(drifts(*session_).empty());
  for (const auto& [place, speed] : session_->scenario().speeds) {
    EXPECT_FALSE(speed.is_used);
    EXPECT_EQ(speed_in_force(session_->scenario().speeds, place), Decimal(1));
  }
}

TEST_F(SessionCalibrationTest, OutlivesARestart) {
  session_ = make_session(true);
  session_->begin();
  advance_to(120);
  inject(130, 20);
  advance_to(1'000);
  session_->emit_all();
  ASSERT_FALSE(session_->scenario().speeds.empty());
  const auto repeated = make_session(false);
  repeated->repeat(told_, session_->order_count());
  repeated->resume(session_->world_left());
  EXPECT_EQ(repeated->scenario().speeds, session_->scenario().speeds);
  EXPECT_EQ(drifts(*repeated), drifts(*session_));
  EXPECT_EQ(repeated->faults().waiting(), session_->faults().waiting());
  EXPECT_EQ(repeated->forecasts().recent({1}).judged, session_->forecasts().recent({1}).judged);
  EXPECT_EQ(repeated->forecasts().recent({1}).inside_80, session_->forecasts().recent({1}).inside_80);
  while (!session_->is_at_rest()) session_->advance(Instant::at_second(session_->now().second() + 1));
  const std::string bytes = session_->save();
  const auto restored = make_session(false);
  ASSERT_TRUE(restored->restore(bytes).has_value());
  restored->repeat({}, session_->order_count());
  restored->resume(session_->world_left());
  EXPECT_EQ(restored->scenario().speeds, session_->scenario().speeds);
  EXPECT_EQ(restored->forecasts().recent({1}).judged, session_->forecasts().recent({1}).judged);
  // What a restored one goes on to measure is the same.
  session_.reset();
  const Instant until = Instant::at_second(restored->now().second() + 300);
  while (restored->advance(until)) {
  }
  EXPECT_EQ(drifts(*restored).size(), drifts(*repeated).size());
}

TEST_F(SessionCalibrationTest, AnotherTableEndsAFactor) {
  session_ = make_session(true);
  session_->begin();
  advance_to(120);
  inject(200, 0);
  advance_to(700);
  ASSERT_FALSE(session_->scenario().speeds.empty());
  ServiceSpec spec = std::as_const(session_->scenario().services)[0];
  for (PerformancePoint& point : spec.table.points) {
    point.latency_ms = point.latency_ms * Decimal(2);
    point.requests_per_second = point.requests_per_second / Decimal(2);
  }
  ASSERT_TRUE(session_->set_tenant("a", {}, std::nullopt).has_value());
  const auto set = session_->set_service({.tenant = "a", .name = "a"}, std::move(spec), {}, std::nullopt);
  ASSERT_TRUE(set.has_value());
  EXPECT_TRUE(session_->scenario().speeds.empty());
}

TEST_F(SessionCalibrationTest, ForecastsAreJudgedEachMinute) {
  session_ = make_session(true);
  session_->begin();
  advance_to(3'600);
  const ForecastSums sums = session_->forecasts().recent({0});
  EXPECT_GE(sums.judged, 55);
  EXPECT_LE(sums.judged, 60);
  EXPECT_GT(sums.inside_80 / static_cast<double>(sums.judged), 0.6);
  EXPECT_GT(sums.inside_95, sums.inside_80);
}

}  // namespace
}  // namespace berth::live
