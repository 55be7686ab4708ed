/// The figures of a session continue after a restart: a client sees what it would have seen without one.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "live/session/entry.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

namespace t = sim::testing;

/// More than it can answer: requests wait, and many are late.
ServiceSpec busy_service(const std::string& name, std::int64_t per_second) {
  ServiceSpec service = t::service_of(name, {{.profile = "3g.40gb", .latency_ms = 10}},
                                      t::generated(Generator::Kind::kPoisson, Decimal(per_second), 60));
  service.arrivals.repeat = true;
  return service;
}

Scenario two_busy_services() {
  return t::scenario_of(
      {busy_service("a", 95), busy_service("b", 120)},
      {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(0, "3g.40gb", 4), {1})}, 1);
}

class SessionSeries : public ::testing::Test {
 protected:
  SessionSeries() : session_(make()) { session_->begin(); }

  std::unique_ptr<Session> make() {
    SessionOptions options;
    options.policy = "fixed";
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    options.listener.series = [this](SeriesSpan span) { seconds_.push_back(std::move(span)); };
    return std::move(*Session::make(two_busy_services(), std::move(options)));
  }

  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
  }

  /// The session as the next process rebuilds it, without the last seconds of its series.
  std::unique_ptr<Session> restarted(std::size_t missing = 0) {
    session_->emit_all();
    const std::vector<Entry> entries = entries_;
    std::vector<SeriesSpan> seconds = seconds_;
    seconds.resize(seconds.size() - missing);
    auto next = make();
    next->repeat(entries, session_->order_count());
    next->restore_figures(seconds);
    next->resume(session_->world_left());
    return next;
  }

  void expect_equal_figures(const Session& other) {
    for (const auto& [name, service] : session_->catalog().services) {
      const auto wanted = session_->figures().minute_of(service.id);
      ASSERT_TRUE(wanted) << name.name;
      EXPECT_EQ(other.figures().minute_of(service.id), wanted) << name.name;
    }
    EXPECT_NEAR(other.figures().funnel()->busy, session_->figures().funnel()->busy, 1e-9);
    EXPECT_NEAR(other.figures().funnel()->effective, session_->figures().funnel()->effective, 1e-9);
    EXPECT_EQ(other.figures().goodput(), session_->figures().goodput());
  }

  std::vector<Entry> entries_;
  std::vector<SeriesSpan> seconds_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionSeries, EachSecondIsGivenOnceWithAllServices) {
  run_to(130);
  ASSERT_EQ(seconds_.size(), 130U);
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    const SeriesSpan& span = seconds_[i];
    EXPECT_EQ(span.second, static_cast<std::int64_t>(i));
    ASSERT_EQ(span.services.size(), 2U);
    ASSERT_TRUE(span.fleet);
    EXPECT_EQ(span.fleet->covered_us, 1'000'000);
    EXPECT_EQ(span.names.size(), i % 60 == 0 ? 2U : 0U) << i;
  }
  EXPECT_EQ(seconds_[0].names[1].name, "b");
  EXPECT_EQ(seconds_[0].names[1].service, seconds_[0].services[1].service);
}

TEST_F(SessionSeries, FiguresAreThoseWithoutARestart) {
  for (const std::int64_t second : {7, 59, 130}) {
    run_to(second);
    const auto next = restarted();
    expect_equal_figures(*next);
  }
}

TEST_F(SessionSeries, AServiceThatCameAgainHasNoneOfTheOneBefore) {
  run_to(80);
  ASSERT_TRUE(session_->remove_service({.tenant = "a", .name = "a"}));
  run_to(90);
  ASSERT_TRUE(session_->set_service({.tenant = "a", .name = "a"}, busy_service("a", 5), {}, std::nullopt));
  run_to(100);
  EXPECT_EQ(session_->figures().minute_of(session_->catalog().services.at({"a", "a"}).id)->requests,
            restarted()->figures().minute_of(session_->catalog().services.at({"a", "a"}).id)->requests);
  expect_equal_figures(*restarted());
}

TEST_F(SessionSeries, SecondsThatAKillTookCountForNothing) {
  run_to(100);
  const auto id = session_->catalog().services.at({"b", "b"}).id;
  auto next = restarted(2);
  const auto figures = next->figures().minute_of(id);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->seconds, 60);  // up to two seconds before
  session_ = std::move(next);
  run_to(110);
  const auto later = session_->figures().minute_of(id);
  EXPECT_EQ(later->seconds, 58);
  EXPECT_NEAR(static_cast<double>(later->requests), 58 * 120, 500);
  EXPECT_GT(session_->figures().funnel()->busy, 0.5);
}

}  // namespace
}  // namespace berth::live
