// Whole runs: plans that change slices, the exact instants of every part of a change, and a recount of the journal.
#include "sim/world/run.h"

#include <gtest/gtest.h>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::fixed_stages;
using testing::holding_of;
using testing::Ran;
using testing::requests_at;
using testing::run;
using testing::run_fixed;
using testing::scenario_of;
using testing::scripted;
using testing::service_of;
using testing::shown_slices;
using testing::slice_at;

using Lines = std::vector<std::string>;
using Script = std::map<std::int64_t, std::vector<Action>>;

constexpr std::int64_t kSecond = kMicrosPerSecond;
const std::vector<testing::Row> measured_rows = {{.profile = "1g.10gb", .latency_ms = 10},
                                                 {.profile = "2g.20gb", .latency_ms = 8},
                                                 {.profile = "3g.40gb", .batch = 4, .processes = 2, .latency_ms = 10}};
const Slice one_g = slice_at(0, "1g.10gb", 0);
const Slice two_g = slice_at(0, "2g.20gb", 0);
const Slice three_g = slice_at(0, "3g.40gb", 4);

/// Service 0 on 1g@0 and 3g@4, service 1 on 1g@2, for 60 s. Destroying takes 0.5 s, creating 0.25 s, plumbing 2 s,
/// starting 3 s.
Scenario world(const std::vector<std::int64_t>& at_us = {}) {
  auto a = service_of("a", measured_rows, requests_at(at_us, 60));
  auto b = service_of("b", measured_rows, requests_at({}, 60));
  a.start = b.start = Micros::seconds(3);
  Scenario scenario = scenario_of(
      {a, b}, {holding_of(one_g, {0}), holding_of(slice_at(0, "1g.10gb", 2), {1}), holding_of(three_g, {0})});
  scenario.changes = {.destroy = Micros(500'000), .create = Micros(250'000), .plumbing = Micros(2'000'000)};
  return scenario;
}

const Lines first_layout_lines = {"0 created 0:1g.10gb@0 s0", "0 serving 0:1g.10gb@0 s0", "0 created 0:1g.10gb@2 s1",
                                  "0 serving 0:1g.10gb@2 s1", "0 created 0:3g.40gb@4 s0", "0 serving 0:3g.40gb@4 s0"};

Ran run_script(const Scenario& scenario, const Script& script) {
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(scripted(script));
  return run(scenario, std::move(stages));
}

/// The slice records after the first layout.
Lines changes_of(const Ran& ran) {
  const Lines lines = shown_slices(ran.journal);
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 6), first_layout_lines);
  return {lines.begin() + 6, lines.end()};
}

void expect_recount(const Scenario& scenario, const Ran& ran) {
  const testing::Recount count = testing::recount(ran.journal, scenario);
  EXPECT_TRUE(count.is_in_order);
  std::int64_t accuracy_sum = 0;
  std::int64_t requests = 0;
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    const Figures& figures = ran.result.services[index].figures;
    const testing::Recount::Service& own = count.services[index];
    EXPECT_EQ(figures.requests, own.requests);
    EXPECT_EQ(figures.in_time, own.in_time);
    EXPECT_EQ(figures.late, own.late);
    EXPECT_EQ(figures.dropped, own.dropped);
    EXPECT_EQ(figures.unfinished, own.unfinished);
    EXPECT_EQ(figures.requests, own.in_time + own.late + own.dropped + own.unfinished);
    EXPECT_EQ(figures.changes, own.changes);
    accuracy_sum += own.accuracy_sum_micro;
    requests += own.requests;
  }
  const auto goodput = static_cast<double>(accuracy_sum) / 1e6 / static_cast<double>(requests);
  EXPECT_DOUBLE_EQ(ran.result.figures.goodput.value_or(0), requests > 0 ? goodput : 0);
  EXPECT_EQ(ran.result.figures.changes, count.changes);
  EXPECT_DOUBLE_EQ(ran.result.figures.gpu_seconds, static_cast<double>(count.gpu_us) / 1e6);
}

TEST(Run, TheFirstLayoutStandsAtSecondZero) {
  const Scenario scenario = world();
  const Ran ran = run_fixed(scenario);
  EXPECT_TRUE(changes_of(ran).empty());
  EXPECT_EQ(ran.result.figures.changes, 0);
  EXPECT_DOUBLE_EQ(ran.result.figures.gpu_seconds, 60);
  EXPECT_EQ(ran.result.figures.cost_micro_usd, 60'000'000);
  EXPECT_DOUBLE_EQ(ran.result.figures.lost_slice_seconds, 0);
  EXPECT_NEAR(ran.result.figures.utilisation.allocated, (14 + 14 + 42) / 108.0, 1e-12);
}

TEST(Run, AnUnownedSliceIsReportedToo) {
  const Scenario scenario = world();
  const Stage lays_out = deciding_stage("idle", [](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    if (snapshot.slices.empty()) plan.actions = {create(one_g), create(three_g), assign(holding_of(three_g, {0}))};
    return std::nullopt;
  });
  const Ran ran = run(scenario, {lays_out, scripted({{10, {destroy(one_g)}}})});
  EXPECT_EQ(shown_slices(ran.journal), (Lines{"0 created 0:3g.40gb@4 s0", "0 serving 0:3g.40gb@4 s0",
                                              "0 created 0:1g.10gb@0", "10500000 destroyed 0:1g.10gb@0"}));
  EXPECT_EQ(ran.result.figures.changes, 1);
  EXPECT_NEAR(ran.result.figures.utilisation.allocated, 42 / 108.0, 1e-12);
  expect_recount(scenario, ran);
}

TEST(Run, ACutTakesDrainDestroyCreatePlumbingAndStart) {
  // The batch under way at 10 s ends at 10.005; then 0.5 + 0.25, then 2 + 3.
  const Scenario scenario = world({10 * kSecond - 5000, 30 * kSecond});
  const Ran ran = run_script(scenario, {{10, {destroy(one_g), create(two_g), assign(holding_of(two_g, {1}))}}});
  EXPECT_EQ(changes_of(ran), (Lines{"10000000 draining 0:1g.10gb@0 s0", "10505000 destroyed 0:1g.10gb@0 s0",
                                    "10755000 created 0:2g.20gb@0 s1", "15755000 serving 0:2g.20gb@0 s1"}));
  EXPECT_EQ(ran.result.figures.changes, 2);
  EXPECT_EQ(ran.result.services[0].figures.changes, 1);
  EXPECT_EQ(ran.result.services[1].figures.changes, 1);
  EXPECT_EQ(ran.result.figures.in_time, 2);
  // Not serving: service 0 while it drains and is destroyed, service 1 from the beginning of the creation.
  EXPECT_DOUBLE_EQ(ran.result.services[0].figures.lost_slice_seconds, 0.505);
  EXPECT_DOUBLE_EQ(ran.result.services[1].figures.lost_slice_seconds, 5.25);
  EXPECT_DOUBLE_EQ(ran.result.figures.gpu_seconds, 60);
  EXPECT_NEAR(ran.result.figures.utilisation.allocated * 108 * 60, 60 * (14 + 42) + 10.505 * 14 + 49.495 * 28, 1e-9);
  expect_recount(scenario, ran);
}

TEST(Run, WhatIsPreparedInFreeRoomCostsNoDowntime) {
  Scenario scenario = world();
  scenario.services[0].arrivals = testing::generated(Generator::Kind::kConstant, Decimal(100), 60);
  const Slice spare = slice_at(0, "1g.10gb", 1);
  const Ran ran = run_script(scenario, {{10, {create(spare), assign(holding_of(spare, {0}))}}});
  EXPECT_EQ(changes_of(ran), (Lines{"10250000 created 0:1g.10gb@1 s0", "15250000 serving 0:1g.10gb@1 s0"}));
  EXPECT_EQ(ran.result.figures.in_time, 6000);
  EXPECT_EQ(ran.result.figures.changes, 1);
  expect_recount(scenario, ran);
}

TEST(Run, UntouchedSlicesGoOnServing) {
  Scenario scenario = world();
  scenario.services[1].arrivals = testing::generated(Generator::Kind::kConstant, Decimal(100), 60);
  const Script script = {{10, {destroy(one_g), destroy(three_g), create(slice_at(0, "4g.40gb", 0))}}};
  Script without_clash = {{10, {destroy(one_g), destroy(three_g)}}};
  const Ran ran = run_script(scenario, without_clash);
  EXPECT_EQ(ran.result.services[1].figures.in_time, 6000);
  EXPECT_DOUBLE_EQ(*ran.result.services[1].figures.latency_mean_ms, 10);
  expect_recount(scenario, ran);
}

TEST(Run, ASliceWaitsUntilItsRoomIsFree) {
  // 3g@4 drains until 10.01; 4g@0 needs the room of 1g@0 and 1g@2, which are destroyed by different plans.
  const Scenario scenario = world({10 * kSecond - 1, 10 * kSecond - 1});
  const Slice other = slice_at(0, "1g.10gb", 2);
  const Slice four = slice_at(0, "4g.40gb", 0);
  const Ran ran = run_script(
      scenario, {{10, {destroy(one_g), destroy(other), create(four)}}, {12, {assign(holding_of(four, {1}))}}});
  EXPECT_EQ(changes_of(ran), (Lines{"10000000 draining 0:1g.10gb@0 s0", "10000000 draining 0:1g.10gb@2 s1",
                                    "10500000 destroyed 0:1g.10gb@2 s1", "10509999 destroyed 0:1g.10gb@0 s0",
                                    "10759999 created 0:4g.40gb@0", "17000000 serving 0:4g.40gb@0 s1"}));
  expect_recount(scenario, ran);
}

TEST(Run, ASliceMayReturnToItsOwnPlace) {
  const Scenario scenario = world();
  const Ran ran = run_script(
      scenario, {{10, {destroy(one_g), create(one_g), assign(holding_of(one_g, {1}))}}, {20, {destroy(one_g)}}});
  EXPECT_EQ(changes_of(ran), (Lines{"10000000 draining 0:1g.10gb@0 s0", "10500000 destroyed 0:1g.10gb@0 s0",
                                    "10750000 created 0:1g.10gb@0 s1", "15750000 serving 0:1g.10gb@0 s1",
                                    "20000000 draining 0:1g.10gb@0 s1", "20500000 destroyed 0:1g.10gb@0 s1"}));
  expect_recount(scenario, ran);
}

TEST(Run, WhatIsNoLongerWantedBeforeItStandsIsForgotten) {
  // Requested at 10 while 1g@0 is still there until 10.5, cancelled at 10.25 by an engine that steps at events too.
  const Scenario scenario = world();
  std::size_t last_seen = 0;
  const Stage watcher = deciding_stage("watch", [&](const Snapshot& snapshot, Plan&) -> std::optional<std::string> {
    last_seen = snapshot.slices.size();
    return std::nullopt;
  });
  Scenario slow = scenario;
  slow.changes.destroy = Micros::seconds(5);
  std::vector<Stage> stages = fixed_stages(slow);
  stages.push_back(scripted({{10, {destroy(one_g), create(two_g)}}, {12, {destroy(two_g)}}}));
  stages.push_back(watcher);
  const Ran ran = run(slow, std::move(stages));
  EXPECT_EQ(changes_of(ran), (Lines{"10000000 draining 0:1g.10gb@0 s0", "15000000 destroyed 0:1g.10gb@0 s0"}));
  EXPECT_EQ(last_seen, 2U);  // the engine has removed it as well
  expect_recount(slow, ran);
}

TEST(Run, WhatIsNoLongerWantedWhileItIsMadeGoesOnceItStands) {
  Scenario scenario = world();
  scenario.changes.create = Micros::seconds(3);
  const Slice spare = slice_at(0, "1g.10gb", 1);
  const Ran ran = run_script(scenario, {{10, {create(spare), assign(holding_of(spare, {0}))}}, {12, {destroy(spare)}}});
  EXPECT_EQ(changes_of(ran), (Lines{"13000000 created 0:1g.10gb@1 s0", "13500000 destroyed 0:1g.10gb@1 s0"}));
  const Ran starting =
      run_script(scenario, {{10, {create(spare), assign(holding_of(spare, {0}))}}, {14, {destroy(spare)}}});
  EXPECT_EQ(changes_of(starting), (Lines{"13000000 created 0:1g.10gb@1 s0", "14500000 destroyed 0:1g.10gb@1 s0"}));
}

TEST(Run, ANewHolderCostsDrainPlumbingAndStart) {
  const Scenario scenario = world({10 * kSecond - 4000});
  const Ran ran = run_script(scenario, {{10, {assign(holding_of(one_g, {1}))}},
                                        {20, {assign(holding_of(one_g, {}))}},
                                        {30, {assign(holding_of(one_g, {1}))}}});
  EXPECT_EQ(changes_of(ran), (Lines{"10000000 draining 0:1g.10gb@0 s0", "15006000 serving 0:1g.10gb@0 s1",
                                    "20000000 draining 0:1g.10gb@0 s1", "35000000 serving 0:1g.10gb@0 s1"}));
  EXPECT_EQ(ran.result.figures.changes, 0);
  EXPECT_DOUBLE_EQ(ran.result.services[0].figures.lost_slice_seconds, 0.006);
  EXPECT_DOUBLE_EQ(ran.result.services[1].figures.lost_slice_seconds, 5 + 5);
  expect_recount(scenario, ran);
}

TEST(Run, RetrainingBorrowsASliceAndReturnsIt) {
  Scenario scenario = world({12 * kSecond, 50 * kSecond});
  Retraining retraining;
  retraining.every = Micros::seconds(100);
  retraining.offset = Micros(10'500'000);
  retraining.time_on = {{1, Micros::seconds(20)}};
  scenario.services[0].retraining = retraining;
  scenario.services[0].accuracy = {.before_micro = 500'000, .after_micro = 800'000};
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(retraining_stage(scenario));
  const Ran ran = run(scenario, std::move(stages));
  EXPECT_EQ(changes_of(ran), (Lines{"10500000 draining 0:1g.10gb@0 s0", "12500000 serving 0:1g.10gb@0 s0 retraining",
                                    "12500000 retraining_started 0:1g.10gb@0 s0 retraining",
                                    "32500000 retraining_done 0:1g.10gb@0 s0 retraining",
                                    "32500000 draining 0:1g.10gb@0 s0 retraining", "37500000 serving 0:1g.10gb@0 s0"}));
  EXPECT_DOUBLE_EQ(*ran.result.figures.goodput, (0.5 + 0.8) / 2);
  EXPECT_NEAR(ran.result.services[0].figures.utilisation.busy * 108 * 60, 20 * 14 + 0.01 * (42 + 14), 1e-9);
  expect_recount(scenario, ran);
}

TEST(Run, ARetrainingThatMovesKeepsItsProgress) {
  Scenario scenario = world();
  Retraining retraining;
  retraining.every = Micros::seconds(100);
  retraining.time_on = {{1, Micros::seconds(40)}, {3, Micros::seconds(10)}};
  scenario.services[0].retraining = retraining;
  scenario.layout->front().role = Role::kRetraining;
  const Ran ran = run_script(
      scenario, {{20, {assign(holding_of(one_g, {0})), assign(holding_of(three_g, {0}, Role::kRetraining))}}});
  const Lines lines = shown_slices(ran.journal);
  // Half was done at 20 s; the other half takes 5 s on 3g from 22 s on.
  EXPECT_NE(std::find(lines.begin(), lines.end(), "22000000 retraining_started 0:3g.40gb@4 s0 retraining"),
            lines.end());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "27000000 retraining_done 0:3g.40gb@4 s0 retraining"), lines.end());
}

// ---- operating points

TEST(Run, ANewBatchLimitIsFreeOtherProcessesAreNot) {
  const Scenario scenario = world();
  const auto same_processes = PointChoice{.variant = 0, .batch = 4, .processes = 2};
  Scenario with_rows = scenario;
  with_rows.services[0].table.points.push_back(with_rows.services[0].table.points.back());
  with_rows.services[0].table.points.back().batch = 1;
  with_rows.services[0].table.points.back().requests_per_second = Decimal(10);
  with_rows.services[0].table.points.push_back(with_rows.services[0].table.points.back());
  with_rows.services[0].table.points.back().processes = 1;
  const auto one_by_one = PointChoice{.variant = 0, .batch = 1, .processes = 2};
  const auto one_process = PointChoice{.variant = 0, .batch = 1, .processes = 1};
  const Ran free = run_script(with_rows, {{10, {assign(holding_of(three_g, {0}), one_by_one)}},
                                          {20, {assign(holding_of(three_g, {0}), same_processes)}},
                                          {30, {assign(holding_of(three_g, {0}))}}});
  EXPECT_TRUE(changes_of(free).empty());
  const Ran restarted = run_script(with_rows, {{10, {assign(holding_of(three_g, {0}), one_process)}}});
  EXPECT_EQ(changes_of(restarted), (Lines{"10000000 draining 0:3g.40gb@4 s0", "15000000 serving 0:3g.40gb@4 s0"}));
}

TEST(Run, TheNewBatchLimitHoldsAtTheNextTake) {
  // Two processes of 3g take 1 + 1 at 20 s, the other four wait; then one at a time.
  Scenario scenario = world();
  scenario.services[0].arrivals = requests_at(std::vector<std::int64_t>(6, 20 * kSecond), 60);
  scenario.services[0].table.points.push_back(scenario.services[0].table.points.back());
  scenario.services[0].table.points.back().batch = 1;
  scenario.services[0].table.points.back().requests_per_second = Decimal(10);
  std::erase_if(*scenario.layout, [](const Holding& holding) { return holding.slice == one_g; });
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(
      scripted({{10, {assign(holding_of(three_g, {0}), PointChoice{.variant = 0, .batch = 1, .processes = 2})}}}));
  EXPECT_DOUBLE_EQ(*run(scenario, std::move(stages)).result.figures.latency_mean_ms, (2 * 10 + 2 * 20 + 2 * 30) / 6.0);
  EXPECT_DOUBLE_EQ(*run_fixed(scenario).result.figures.latency_mean_ms, (2 * 10 + 4 * 20) / 6.0);
}

TEST(Run, WhatIsServedAtAChosenPointIsNotMoreThanWhatWasBusy) {
  // The default point has batches of one, 100 requests per second; the plan chooses four in 20 ms, and four requests
  // come every 20 ms.
  std::vector<std::int64_t> at_us;
  at_us.reserve(4000);
  for (std::int64_t i = 0; i < 4000; ++i) at_us.push_back(20 * kSecond + i / 4 * 20'000);
  ServiceSpec service =
      service_of("a", {{.profile = "3g.40gb", .latency_ms = 10}, {.profile = "3g.40gb", .batch = 4, .latency_ms = 20}},
                 requests_at(at_us, 60));
  service.batching.slo_factor = Decimal(15, 100);
  const Scenario scenario = scenario_of({service}, {holding_of(three_g, {0})});
  const auto chosen = PointChoice{.variant = 0, .batch = 4, .processes = 1};
  const Ran ran = run_script(scenario, {{10, {assign(holding_of(three_g, {0}), chosen)}}});
  EXPECT_EQ(ran.result.figures.in_time, 4000);
  EXPECT_NEAR(ran.result.figures.utilisation.busy, 20 * 42 / (108 * 60.0), 1e-4) << "but for the first few";
  EXPECT_LE(ran.result.figures.utilisation.effective, ran.result.figures.utilisation.busy);
  EXPECT_NEAR(ran.result.figures.utilisation.effective, 4000 * 42 / 200.0 / (108 * 60.0), 1e-9);
  // Without the plan's choice the default point is the best one that the service has.
  EXPECT_NEAR(run_fixed(scenario).result.figures.utilisation.effective,
              static_cast<double>(run_fixed(scenario).result.figures.in_time) * 42 / 100.0 / (108 * 60.0), 1e-9);
}

// ---- delays

TEST(Run, PlanningDelaysWhatAPlanDoes) {
  Scenario scenario = world();
  scenario.planning = Micros(2'500'000);
  const Ran ran = run_script(scenario, {{10, {destroy(one_g)}}});
  EXPECT_EQ(changes_of(ran), (Lines{"12500000 draining 0:1g.10gb@0 s0", "13000000 destroyed 0:1g.10gb@0 s0"}));
}

/// The latest second of service 0 that the engine had seen at its step of `at_second`.
std::optional<std::int64_t> latest_seen(const Scenario& scenario, std::int64_t at_second) {
  std::optional<std::int64_t> latest;
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(deciding_stage("look", [&](const Snapshot& snapshot, Plan&) -> std::optional<std::string> {
    if (snapshot.now != Instant::at_second(at_second)) return std::nullopt;
    const auto& seconds = snapshot.services[0].seconds;
    latest = seconds.empty() ? std::nullopt : std::optional(seconds.back().second);
    return std::nullopt;
  }));
  static_cast<void>(run(scenario, std::move(stages)));
  return latest;
}

TEST(Run, ObservationsComeLate) {
  Scenario scenario = world({5});
  EXPECT_EQ(latest_seen(scenario, 10), 9);
  scenario.observation_delay = Micros::seconds(4);
  EXPECT_EQ(latest_seen(scenario, 10), 5);
  EXPECT_EQ(latest_seen(scenario, 4), std::nullopt);
  scenario.observation_delay = Micros(4'000'001);
  EXPECT_EQ(latest_seen(scenario, 10), 4);
}

TEST(Run, HistoryIsSeenBeforeSecondZero) {
  Scenario scenario = world();
  std::vector<std::uint32_t> counts(100, 7);
  scenario.services[0].arrivals = testing::counted(counts);
  scenario.services[0].arrivals.from_second = 40;
  scenario.services[0].arrivals.seconds = 60;
  scenario.history_seconds = 10;
  scenario.services[0].drop = DropRule::kNever;
  std::size_t seen = 0;
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(deciding_stage("look", [&](const Snapshot& snapshot, Plan&) -> std::optional<std::string> {
    if (snapshot.now == Instant() && seen == 0) seen = snapshot.services[0].seconds.size();
    return std::nullopt;
  }));
  static_cast<void>(run(scenario, std::move(stages)));
  EXPECT_EQ(seen, 10U);
  EXPECT_EQ(latest_seen(scenario, 0), -1);
  scenario.history_seconds = 1'000'000'000;  // more than the trace has
  EXPECT_EQ(latest_seen(scenario, 0), -1);
}

TEST(Run, FrozenWindowsHoldRetrainingsBack) {
  Scenario scenario = world();
  Retraining retraining;
  retraining.every = Micros::seconds(100);
  retraining.offset = Micros::seconds(10);
  retraining.time_on = {{1, Micros::seconds(20)}};
  scenario.services[0].retraining = retraining;
  scenario.frozen = {{.from = Instant::at_second(5), .until = Instant(17'500'000)}};
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(retraining_stage(scenario));
  EXPECT_EQ(changes_of(run(scenario, std::move(stages))).front(), "18000000 draining 0:1g.10gb@0 s0");
}

TEST(Run, StopsWhenAskedTo) {
  const Scenario scenario = world();
  sim::RunOptions options;
  int calls = 0;
  options.progress = [&](double done) { return ++calls < 5 && done >= 0; };
  const auto outcome = sim::run_scenario(scenario, fixed_stages(scenario), options);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(calls, 5);
}

TEST(Run, SaysWhyItCannotBegin) {
  Scenario scenario = world();
  scenario.layout.reset();
  const auto outcome = sim::run_scenario(scenario, fixed_stages(scenario), {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->infeasible, "the scenario has no layout");
}

TEST(Run, APlanThatTheVerifierRefusesIsCountedAndChangesNothing) {
  const Scenario scenario = world();
  std::vector<Stage> stages = fixed_stages(scenario);
  stages.push_back(scripted({{10, {create(two_g)}}, {20, {destroy(one_g)}}}));
  std::vector<sim::JournalRecord> journal;
  sim::RunOptions options;
  options.loop.listener.journal = [&](const sim::JournalRecord& record) { journal.push_back(record); };
  const auto outcome = sim::run_scenario(scenario, std::move(stages), options);
  ASSERT_TRUE(outcome.has_value() && outcome->world != nullptr);
  EXPECT_EQ(outcome->refusals.count, 1);
  EXPECT_TRUE(outcome->refusals.first.starts_with("at second 10: ")) << outcome->refusals.first;
  // The run continues, and later plans take effect.
  EXPECT_TRUE(std::ranges::any_of(journal, [](const sim::JournalRecord& record) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    return slice != nullptr && slice->event == world::SliceEvent::kDestroyed && slice->slice == one_g;
  }));
}

}  // namespace
}  // namespace berth::measure
