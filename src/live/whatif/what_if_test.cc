#include "live/whatif/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world.h"

namespace berth::whatif {
namespace {

using sim::testing::service_of;

constexpr std::int64_t kSeconds = 100;

std::string words(Instant at) { return std::to_string(at.second()); }

ServiceSpec small_service(const std::string& name, std::uint32_t per_second) {
  ServiceSpec service =
      service_of(name, {{.profile = "1g.10gb", .latency_ms = 20}, {.profile = "2g.20gb", .batch = 4, .latency_ms = 30}},
                 sim::testing::counted(std::vector<std::uint32_t>(kSeconds, per_second)));
  service.tenant = "t";
  service.arrivals.repeat = true;
  service.start = Micros::seconds(2);
  return service;
}

Scenario small_scenario() {
  ServiceSpec first = small_service("a", 30);
  first.accuracy = {.before_micro = 500'000, .after_micro = 900'000};
  first.retraining = Retraining{.every = Micros::seconds(40), .offset = Micros::seconds(13), .swap = {}, .time_on = {}};
  first.retraining->time_on = {{1, Micros::seconds(9)}, {2, Micros::seconds(6)}};
  Scenario scenario = sim::testing::scenario_of({first, small_service("b", 50)}, {}, 2);
  scenario.window_seconds = 20;
  scenario.layout.reset();
  return scenario;
}

/// A session, with everything that it emits.
class Live {
 public:
  explicit Live(Scenario scenario, bool has_end = false) : scenario_(std::move(scenario)), has_end_(has_end) {
    live::SessionOptions options;
    options.has_end = has_end;
    options.listener.entry = [this](live::Entry entry) { entries_.push_back(std::move(entry)); };
    options.listener.journal = [this](const sim::JournalRecord& record) { records_.push_back(record); };
    session_ = std::move(*live::Session::make(scenario_, std::move(options)));
    session_->begin();
  }

  [[nodiscard]] live::Session& session() { return *session_; }
  void run_to(std::int64_t second) {
    while (session_->now() < Instant::at_second(second))
      static_cast<void>(session_->advance(Instant::at_second(second)));
  }
  void set(const ServiceSpec& spec) {
    ASSERT_TRUE(session_->set_service({.tenant = "t", .name = spec.name}, spec, {}, std::nullopt).has_value());
  }
  void remove(const std::string& name) {
    ASSERT_TRUE(session_->remove_service({.tenant = "t", .name = name}).has_value());
  }
  void inject(sim::FaultKind kind, std::uint32_t gpu) {
    ASSERT_TRUE(session_->inject({.kind = kind, .gpus = {{gpu}}, .times = std::nullopt, .duration = {}, .profile = {}})
                    .has_value());
  }
  /// From now on `past` has only later entries.
  void save() {
    ASSERT_TRUE(session_->is_at_rest());
    saved_ = session_->save();
    entries_.clear();
  }

  [[nodiscard]] Past past() {
    session_->emit_all();
    return {.scenario = scenario_,
            .seed = 1,
            .policy = "berth",
            .approval = Approval::kNever,
            .has_end = has_end_,
            .session = saved_,
            .entries = entries_};
  }
  [[nodiscard]] Chronicle chronicle() {
    auto chronicle = read_chronicle(past());
    EXPECT_TRUE(chronicle.has_value());
    return std::move(*chronicle);
  }
  [[nodiscard]] const std::vector<sim::JournalRecord>& records() const { return records_; }

 private:
  Scenario scenario_;
  bool has_end_;
  std::vector<live::Entry> entries_;
  std::vector<sim::JournalRecord> records_;
  std::optional<std::string> saved_;
  std::unique_ptr<live::Session> session_;
};

WhatIf made(const Chronicle& chronicle, const Window& window) {
  auto made = what_if(chronicle, window, words);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

/// The journal of what really happened.
std::vector<sim::JournalRecord> repeated(const WhatIf& what) {
  std::vector<sim::JournalRecord> records;
  const auto keep = [&](const sim::JournalRecord& record) { records.push_back(record); };
  auto world = sim::repeat_recorded(what.scenario, what.run, Instant::never(), {.journal = keep});
  EXPECT_TRUE(world.has_value());
  (*world)->finish();
  return records;
}

/// The second of each event of a slice, after `from` and before `until`; counted from `from`. Where requests of later
/// services are drawn again, a drain takes some milliseconds more or less.
std::vector<std::string> slices_between(const std::vector<sim::JournalRecord>& records, std::int64_t from,
                                        std::int64_t until) {
  std::vector<sim::JournalRecord> between;
  for (const sim::JournalRecord& record : records) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    if (slice == nullptr || slice->at <= Instant::at_second(from) || slice->at >= Instant::at_second(until)) continue;
    world::SliceRecord moved = *slice;
    moved.at = Instant::at_second(moved.at.second() - from);
    between.emplace_back(std::move(moved));
  }
  return sim::testing::shown_slices(between);
}

std::vector<std::uint32_t> counts_of(const ServiceSpec& service) {
  return std::get<CountTrace>(service.arrivals.source).counts;
}

std::int64_t total_of(const ServiceSpec& service) {
  const auto counts = counts_of(service);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

bool has_remark(const WhatIf& what, std::string_view text) {
  return std::ranges::any_of(what.remarks,
                             [&](const std::string& remark) { return remark.find(text) != std::string::npos; });
}

TEST(WhatIf, ARunFromItsBeginningToItsEndIsTheSameWorld) {
  Live live(small_scenario(), /*has_end=*/true);
  live.run_to(kSeconds);
  const Chronicle chronicle = live.chronicle();
  live.session().finish();
  ASSERT_EQ(whole_window(chronicle), (Window{.from = 0, .to = kSeconds}));
  const WhatIf what = made(chronicle, whole_window(chronicle));
  EXPECT_EQ(what.scenario.services[0].name, "t.a");
  EXPECT_EQ(what.scenario.services[1].name, "t.b");
  EXPECT_EQ(what.scenario.simulated_seconds(), kSeconds);
  EXPECT_GT(slices_between(live.records(), 0, kSeconds).size(), 2U);
  EXPECT_EQ(sim::testing::shown(repeated(what)), sim::testing::shown(live.records()));
  EXPECT_TRUE(what.remarks.empty());
}

TEST(WhatIf, SaysThatTimeWasNotObserved) {
  Live live(small_scenario());
  live.run_to(30);
  live.session().skip_to(Instant::at_second(60) + Micros(500'000));
  live.run_to(kSeconds);
  const Chronicle chronicle = live.chronicle();
  const WhatIf what = made(chronicle, whole_window(chronicle));
  EXPECT_TRUE(has_remark(what, "the engine did not run for a while (1)"));
  EXPECT_FALSE(has_remark(made(chronicle, {.from = 70, .to = 90}), "did not run"));
  EXPECT_FALSE(repeated(what).empty());
}

TEST(WhatIf, SecondsThatTheObservationDelayHeldBackAreKnown) {
  Scenario scenario = small_scenario();
  scenario.observation_delay = Micros::seconds(7);
  Live live(scenario, /*has_end=*/true);
  live.run_to(kSeconds);
  EXPECT_EQ(live.chronicle().until, kSeconds);
}

TEST(WhatIf, AServiceHasRequestsWhileItIsThere) {
  Live live(small_scenario());
  live.run_to(20);
  live.set(small_service("c", 7));
  live.run_to(50);
  live.remove("c");
  live.run_to(60);
  live.set(small_service("c", 9));
  live.run_to(90);
  const Chronicle chronicle = live.chronicle();
  const WhatIf what = made(chronicle, {.from = 0, .to = 90});
  ASSERT_EQ(what.scenario.services.size(), 3U);
  const ServiceSpec& service = what.scenario.services[2];
  EXPECT_EQ(service.name, "t.c");
  EXPECT_EQ(service.tenant, "t");
  const std::vector<std::uint32_t> counts = counts_of(service);
  EXPECT_EQ(counts.size(), 90U);
  EXPECT_EQ(counts[19], 0U);
  EXPECT_EQ(counts[30], 7U);
  EXPECT_EQ(counts[55], 0U);
  EXPECT_EQ(counts[70], 9U);
  EXPECT_EQ(total_of(service), 29 * 7 + 29 * 9) << "each time they begin with the next second";
  EXPECT_EQ(total_of(what.scenario.services[0]), 90 * 30);
  EXPECT_EQ(slices_between(repeated(what), 0, 90).size(), slices_between(live.records(), 0, 90).size());
  EXPECT_TRUE(has_remark(what, "t.c: added at 20"));
  EXPECT_TRUE(has_remark(what, "t.c: removed at 50"));
  EXPECT_FALSE(has_remark(what, "its spec was changed")) << "only its arrivals were";
  EXPECT_EQ(made(chronicle, {.from = 51, .to = 59}).scenario.services.size(), 2U);
}

TEST(WhatIf, AWindowBeginsWithWhatStoodAndItsPast) {
  Live live(small_scenario());
  live.run_to(30);
  live.set(small_service("c", 40));
  live.run_to(33);  // a slice begins to serve at 32: it is part of what stood
  const WhatIf what = [&] {
    live.run_to(95);
    return made(live.chronicle(), {.from = 33, .to = 95});
  }();
  ASSERT_TRUE(what.run.left.has_value());
  ASSERT_TRUE(what.scenario.layout.has_value());
  EXPECT_EQ(what.scenario.services[0].arrivals.from_second, 33);
  EXPECT_EQ(what.scenario.services[2].arrivals.from_second, 3);
  EXPECT_EQ(what.scenario.services[0].retraining->offset, Micros::seconds(13 + 40 - 33));
  const auto expected = slices_between(live.records(), 33, 95);
  EXPECT_GT(expected.size(), 2U);
  EXPECT_EQ(slices_between(repeated(what), 0, 62), expected);
  EXPECT_TRUE(has_remark(what, "recorded begins with what stood"));
}

TEST(WhatIf, LostGpusAndFaultsHappenAgain) {
  Live live(small_scenario());
  live.run_to(10);
  live.inject(sim::FaultKind::kLose, 0);
  live.run_to(40);
  live.inject(sim::FaultKind::kReturn, 0);
  live.inject(sim::FaultKind::kFailCreate, 1);
  live.run_to(90);
  const Chronicle chronicle = live.chronicle();
  const WhatIf what = made(chronicle, {.from = 0, .to = 90});
  const auto expected = slices_between(live.records(), 0, 90);
  EXPECT_TRUE(std::ranges::any_of(expected, [](const auto& line) { return line.find(" lost ") != std::string::npos; }));
  EXPECT_EQ(slices_between(repeated(what), 0, 90), expected);
  EXPECT_TRUE(has_remark(what, "GPUs were lost (1)"));
  EXPECT_TRUE(has_remark(what, "faults were injected (1)"));
  EXPECT_FALSE(has_remark(made(chronicle, {.from = 50, .to = 90}), "GPUs were lost"));
}

TEST(WhatIf, ASpecThatChangedIsInForceFromThen) {
  Live live(small_scenario());
  live.run_to(20);
  ServiceSpec slow = small_service("b", 50);
  slow.start = Micros::seconds(9);
  live.set(slow);
  live.run_to(25);
  live.inject(sim::FaultKind::kLose, 0);
  live.run_to(90);
  const Chronicle chronicle = live.chronicle();
  const WhatIf what = made(chronicle, {.from = 0, .to = 90});
  EXPECT_EQ(what.scenario.services[1].start, slow.start);
  EXPECT_TRUE(has_remark(what, "t.b: its spec was changed (1): the policies have that of 20 all the time"));
  EXPECT_EQ(slices_between(repeated(what), 0, 90).size(), slices_between(live.records(), 0, 90).size());
  const WhatIf before = made(chronicle, {.from = 0, .to = 20});
  EXPECT_EQ(before.scenario.services[1].start, Micros::seconds(2));
}

TEST(WhatIf, TheLayoutHasNoSlicesOnModelsThatAreForbiddenAtTheEnd) {
  Scenario scenario = small_scenario();
  scenario.fleet.push_back({.model = *mig::find_gpu_model("T4"), .count = 1, .usd_per_gpu_hour = {}});
  Live live(scenario);
  live.run_to(20);
  ServiceSpec moved = small_service("b", 50);
  PerformancePoint row = moved.table.points.front();
  row.gpu = "T4-16GB";
  row.profile = "full";
  moved.table.points.push_back(row);
  moved.tier.gpu = "T4-16GB";
  live.set(moved);
  live.run_to(90);
  const WhatIf what = made(live.chronicle(), {.from = 0, .to = 90});
  ASSERT_TRUE(what.scenario.layout.has_value());
  for (const Holding& holding : *what.scenario.layout) EXPECT_EQ(holding.services, std::vector{ServiceId{0}});
  EXPECT_TRUE(has_remark(what, "t.b: slices on other GPU models than T4-16GB ("));
  EXPECT_EQ(slices_between(repeated(what), 0, 90).size(), slices_between(live.records(), 0, 90).size());
}

TEST(WhatIf, ASavedSessionAndWhatCameAfterItAreEnough) {
  Live live(small_scenario());
  live.run_to(50);
  live.save();
  live.run_to(90);
  const Chronicle chronicle = live.chronicle();
  EXPECT_EQ(whole_window(chronicle), (Window{.from = 50, .to = 90}));
  const WhatIf what = made(chronicle, {.from = 50, .to = 90});
  EXPECT_EQ(what.scenario.services[0].arrivals.from_second, 50) << "the engine remembers them";
  EXPECT_EQ(total_of(what.scenario.services[0]), 90 * 30);
  EXPECT_EQ(what.scenario.services[0].retraining->offset, Micros::seconds(3));
  EXPECT_EQ(slices_between(repeated(what), 0, 40), slices_between(live.records(), 50, 90));
}

TEST(WhatIf, WithoutAServiceOrAGpuThereIsNoScenario) {
  Scenario scenario = small_scenario();
  scenario.services = {};
  Live live(scenario);
  live.run_to(20);
  const auto no_service = what_if(live.chronicle(), {.from = 3, .to = 9}, words);
  ASSERT_FALSE(no_service.has_value());
  EXPECT_EQ(no_service.error().message, "no service was there from 3 to 9");
}

/// Batches take twice as long as the table says, which a factor reports after some minutes.
class Slowed {
 public:
  explicit Slowed(bool is_saved = false) : live_(busy()) {
    live_.run_to(60);
    sim::FaultOrder order;
    order.kind = sim::FaultKind::kServing;
    order.serving = sim::ServingFault{.service = ServiceId{0}, .factor = Decimal(2), .jitter = Decimal(0)};
    EXPECT_TRUE(live_.session().inject(order).has_value());
    live_.run_to(700);
    EXPECT_FALSE(live_.session().scenario().speeds.empty());
    while (is_saved && !live_.session().is_at_rest()) live_.run_to(live_.session().now().second() + 1);
    if (is_saved) live_.save();
    live_.run_to(1'000);
  }
  [[nodiscard]] Chronicle chronicle() { return live_.chronicle(); }

 private:
  static Scenario busy() {
    Scenario scenario = sim::testing::scenario_of({small_service("a", 30), small_service("b", 50)}, {}, 2);
    scenario.layout.reset();
    return scenario;
  }
  Live live_;
};

const PerformancePoint& first_row(const Scenario& scenario, std::size_t service) {
  return std::as_const(scenario.services)[service].table.points.front();
}

TEST(WhatIf, TablesHaveTheMeasuredSpeed) {
  Slowed slowed;
  const Chronicle chronicle = slowed.chronicle();
  const WhatIf late = made(chronicle, {.from = 800, .to = 900});
  EXPECT_NEAR(first_row(late.scenario, 0).latency_ms.to_double(), 40, 1.2);
  EXPECT_NEAR(first_row(late.scenario, 0).requests_per_second.to_double(), 25, 0.8);
  EXPECT_EQ(first_row(late.scenario, 1).latency_ms, Decimal(20));
  EXPECT_TRUE(std::ranges::any_of(late.remarks, [](const std::string& remark) {
    return remark.starts_with("t.a: batches took another time than its table says (A100-80GB 1g.10gb x ");
  })) << late.remarks.size();
  const WhatIf early = made(chronicle, {.from = 0, .to = 60});
  EXPECT_EQ(first_row(early.scenario, 0).latency_ms, Decimal(20));
}

/// The fault is repeated, so its table is the one that the service had.
TEST(WhatIf, TheRecordedRunIsSlowedOnce) {
  Slowed slowed;
  const WhatIf whole = made(slowed.chronicle(), {.from = 0, .to = 900});
  const auto set = std::ranges::find_if(
      whole.run.orders, [](const sim::RecordedOrder& order) { return std::holds_alternative<ServiceSet>(order.what); });
  ASSERT_NE(set, whole.run.orders.end());
  EXPECT_EQ(std::get<ServiceSet>(set->what).spec->table.points.front().latency_ms, Decimal(20));
}

/// Of what was before a saved session only the factor is known.
TEST(WhatIf, WithoutTheFaultTheRecordedRunHasTheFactor) {
  Slowed slowed(/*is_saved=*/true);
  const Chronicle chronicle = slowed.chronicle();
  const Window window{.from = whole_window(chronicle).from, .to = 900};
  const WhatIf made_after = made(chronicle, window);
  EXPECT_NEAR(first_row(made_after.scenario, 0).latency_ms.to_double(), 40, 1.2);
  EXPECT_TRUE(std::ranges::none_of(made_after.run.orders, [](const sim::RecordedOrder& order) {
    return std::holds_alternative<ServiceSet>(order.what);
  }));
}

}  // namespace
}  // namespace berth::whatif
