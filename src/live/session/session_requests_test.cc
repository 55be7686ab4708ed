/// Sessions whose load is what gateways counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "domain/values/request_record.h"
#include "domain/values/series.h"
#include "domain/values/snapshot.h"
#include "live/session/entry.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

constexpr std::int64_t kEpochUs = 1'000'000 * kMicrosPerSecond;

class MeasuredSession : public ::testing::Test {
 protected:
  std::unique_ptr<Session> make() {
    Scenario scenario = sim::testing::scenario_of(
        {sim::testing::service_of("s", {{.profile = "1g.10gb"}},
                                  sim::testing::generated(Generator::Kind::kPoisson, Decimal(5), 600))},
        {}, 1);
    scenario.history_seconds = 600;
    SessionOptions options;
    options.has_load = false;
    options.measures_load = true;
    options.listener.entry = [this](const Entry& entry) { entries_.push_back(entry); };
    options.listener.series = [this](const SeriesSpan& span) { spans_.push_back(span); };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }
  void advance(Session& session, std::int64_t until) {
    while (session.advance(Instant::at_second(until))) {
    }
  }
  /// A second of the gateway's work, reported in the next one.
  void report(Session& session, std::int64_t arrivals) {
    const std::int64_t second = session.now().second() - 1;
    const ServiceSpec& spec = session.scenario().services[0];
    session.count_requests({.gateway = "g",
                            .table = 1,
                            .records = {{.number = ++number_,
                                         .tenant = spec.tenant,
                                         .service = spec.name,
                                         .second = kEpochUs / kMicrosPerSecond + second,
                                         .arrivals = arrivals,
                                         .in_time = arrivals}}},
                           kEpochUs);
    session.see_requests();
  }
  static std::vector<std::pair<std::int64_t, std::int64_t>> seen(const Session& session) {
    std::vector<std::pair<std::int64_t, std::int64_t>> seconds;
    for (const ServiceSecond& each : session.snapshot().services[0].seconds) {
      if (each.second >= 0) seconds.emplace_back(each.second, each.arrivals);
    }
    return seconds;
  }

  std::vector<Entry> entries_;
  std::vector<SeriesSpan> spans_;
  std::uint64_t number_ = 0;
};

TEST_F(MeasuredSession, TheEngineSeesWhatWasCountedAndARestartRepeatsIt) {
  auto session = make();
  session->begin();
  for (std::int64_t second = 1; second <= 30; ++second) {
    advance(*session, second);
    if (second <= 10 || second > 20) report(*session, second);
  }
  advance(*session, 31);
  // Of the same gateway, a silence is empty seconds.
  EXPECT_EQ(seen(*session).size(), 30U);
  EXPECT_EQ(seen(*session).front(), (std::pair<std::int64_t, std::int64_t>(0, 1)));
  EXPECT_EQ(session->counted_until("g"), 0U) << "nothing is recorded yet";
  session->set_recorded();
  EXPECT_EQ(session->counted_until("g"), 20U);

  const auto known = seen(*session);
  std::vector<Entry> entries = std::exchange(entries_, {});
  auto next = make();
  next->repeat(entries, session->order_count());
  next->resume(session->world_left());
  EXPECT_EQ(seen(*next), known);
  EXPECT_EQ(next->counted_until("g"), 20U);
  // The gateway sends again what was not acknowledged.
  number_ = 19;
  advance(*next, 32);
  report(*next, 7);
  advance(*next, 33);
  EXPECT_EQ(seen(*next), known) << "the record counts once";
}

TEST_F(MeasuredSession, FiguresComeWithTheirSeconds) {
  auto session = make();
  session->begin();
  for (std::int64_t second = 1; second <= 10; ++second) {
    advance(*session, second);
    report(*session, 3);
  }
  session->emit_all();
  std::int64_t requests = 0;
  std::int64_t last = -1;
  for (const SeriesSpan& span : spans_) {
    EXPECT_GT(span.second, last);
    last = span.second;
    for (const ServiceFigures& figures : span.services) requests += figures.requests;
  }
  EXPECT_EQ(requests, 30);
}

TEST_F(MeasuredSession, ASavedOneKnowsWhatWasCounted) {
  auto session = make();
  session->begin();
  for (std::int64_t second = 1; second <= 5; ++second) {
    advance(*session, second);
    report(*session, 3);
  }
  advance(*session, 6);
  ASSERT_TRUE(session->is_at_rest());
  const std::string bytes = session->save();
  auto next = make();
  ASSERT_TRUE(next->restore(bytes));
  EXPECT_EQ(next->counted_until("g"), 5U);
  EXPECT_EQ(next->requests_known_until(), 5);
}

}  // namespace
}  // namespace berth::live
