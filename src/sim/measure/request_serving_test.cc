// Serving request by request, on cases computed by hand. Times in the comments are in milliseconds.
#include "sim/world/request_serving.h"

#include <gtest/gtest.h>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::holding_of;
using testing::requests_at;
using testing::run_fixed;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

constexpr std::int64_t kMs = 1000;
const std::vector<testing::Row> kTen = {{.batch = 1, .processes = 1, .latency_ms = 10}};
const std::vector<testing::Row> kTenForFour = {{.batch = 4, .processes = 1, .latency_ms = 10}};

Scenario alone(ServiceSpec service) {
  return scenario_of({std::move(service)}, {holding_of(slice_at(0, "1g.10gb", 0), {0})});
}

std::vector<std::string> seconds_of(const testing::Ran& ran) {
  std::vector<std::string> lines;
  for (const sim::JournalRecord& record : ran.journal) {
    if (std::holds_alternative<sim::SecondRecord>(record)) lines.push_back(testing::shown(record));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(RequestServing, AnAnswerComesBeforeAnArrivalOfItsMicrosecond) {
  const testing::Ran ran = run_fixed(alone(service_of("s", kTen, requests_at({0, 10 * kMs, 20 * kMs}, 1))));
  EXPECT_DOUBLE_EQ(*ran.result.figures.latency_mean_ms, 10);
}

TEST(RequestServing, RequestsOfOneMicrosecondComeOneByOne) {
  // The first is served alone, the two others together.
  const testing::Ran ran = run_fixed(alone(service_of("s", kTenForFour, requests_at({0, 0, 0}, 1))));
  EXPECT_DOUBLE_EQ(*ran.result.figures.latency_mean_ms, (10 + 20 + 20) / 3.0);
}

TEST(RequestServing, AFreeProcessTakesWhatWaitsUpToTheBatch) {
  // 1 at 0; 2, 3, 4, 5 at 10; 6 at 20.
  const testing::Ran ran =
      run_fixed(alone(service_of("s", kTenForFour, requests_at({0, 1000, 2000, 3000, 4000, 5000}, 1))));
  EXPECT_DOUBLE_EQ(*ran.result.figures.latency_mean_ms, (10 + 19 + 18 + 17 + 16 + 25) / 6.0);
}

TEST(RequestServing, ABatchTakesItsOwnLatency) {
  const std::vector<testing::Row> rows = {{.batch = 2, .latency_ms = 10}, {.batch = 4, .latency_ms = 18}};
  // A single request takes as long as the smallest batch; three take the mean of 10 and 18.
  const testing::Ran ran = run_fixed(alone(service_of("s", rows, requests_at({0, 1000, 1000, 1000}, 1))));
  EXPECT_DOUBLE_EQ(*ran.result.figures.latency_mean_ms, (10 + 3 * (9 + 14)) / 4.0);
}

TEST(RequestServing, OfSeveralFreeTheLowestTakes) {
  const std::vector<testing::Row> rows = {{.profile = "1g.10gb", .processes = 2, .latency_ms = 10},
                                          {.profile = "2g.20gb", .processes = 1, .latency_ms = 5},
                                          {.profile = "3g.40gb", .processes = 1, .latency_ms = 3}};
  const auto service = service_of("s", rows, requests_at({0, 1000, 2000, 3000, 4000, 10'000}, 1));
  const Scenario scenario =
      scenario_of({service},
                  {holding_of(slice_at(0, "1g.10gb", 1), {0}), holding_of(slice_at(0, "2g.20gb", 2), {0}),
                   holding_of(slice_at(1, "3g.40gb", 0), {0})},
                  2);
  // 1g twice, 2g, 3g, none until 6 (3g is free again), 1g at its own end of 10.
  EXPECT_DOUBLE_EQ(*run_fixed(scenario).result.figures.latency_mean_ms, (10 + 10 + 5 + 3 + 2 + 3 + 10) / 6.0);
}

TEST(RequestServing, InTimeIsUpToTheTargetAndDropsComeBeforeThat) {
  auto service = service_of("s", kTen, requests_at({0, 0, 0}, 1));
  testing::set_target_ms(service, 20);
  EXPECT_EQ(seconds_of(run_fixed(alone(service))), Lines{"20000 second 0 0 3 2 0 1 0 2000000"});
  service.drop = DropRule::kNever;
  EXPECT_EQ(seconds_of(run_fixed(alone(service))), Lines{"30000 second 0 0 3 2 1 0 0 2000000"});
}

TEST(RequestServing, ADropLooksAtTheBatchAsItWouldBeTaken) {
  const std::vector<testing::Row> rows = {{.batch = 1, .latency_ms = 5}, {.batch = 2, .latency_ms = 15}};
  auto service = service_of("s", rows, requests_at({0, 0, 0}, 1));
  service.batching.slo_factor = Decimal(1'000'000);
  testing::set_target_ms(service, 20);
  service.table.points[1].requests_per_second = Decimal(10'000);  // so that it becomes the default point
  EXPECT_EQ(seconds_of(run_fixed(alone(service))), Lines{"20000 second 0 0 3 3 0 0 0 3000000"});
  testing::set_target_ms(service, 19);
  // At 5 two wait; together they would be late, so the head goes, and the other one is answered alone at 10.
  EXPECT_EQ(seconds_of(run_fixed(alone(service))), Lines{"10000 second 0 0 3 2 0 1 0 2000000"});
}

TEST(RequestServing, AtTheEndAnAnswerCountsAndTheRestIsUnfinished) {
  const testing::Ran ran = run_fixed(alone(service_of("s", kTen, requests_at({990 * kMs, 995 * kMs}, 1))));
  EXPECT_EQ(seconds_of(ran), Lines{"1000000 second 0 0 2 1 0 0 1 1000000"});
  const testing::Ran later = run_fixed(alone(service_of("s", kTen, requests_at({990 * kMs + 1}, 1))));
  EXPECT_EQ(seconds_of(later), Lines{"1000000 second 0 0 1 0 0 0 1 0"});
}

TEST(RequestServing, ServicesOnOneSliceSlowEachOther) {
  const std::vector<testing::Row> rows = {{.profile = "full", .latency_ms = 10}};
  const Scenario scenario =
      scenario_of({service_of("a", rows, requests_at({0}, 1)), service_of("b", rows, requests_at({5 * kMs}, 1))},
                  {holding_of(slice_at(0, "full", 0), {0, 1})});
  const testing::Ran slices = run_fixed(scenario);
  EXPECT_DOUBLE_EQ(*slices.result.services[0].figures.latency_mean_ms, 10);
  EXPECT_NEAR(*slices.result.services[1].figures.latency_mean_ms, 20, 0);
  const testing::Ran mps = run_fixed(scenario, 1, {.sharing = Sharing::kMps, .dispatch = Dispatch::kPull, .only = {}});
  EXPECT_NEAR(*mps.result.services[1].figures.latency_mean_ms, 14.3, 1e-9);
  // The slice is busy from 0 to 25, for one service or the other.
  EXPECT_NEAR(slices.result.figures.utilisation.busy, 0.025, 1e-12);
}

TEST(SharingFactor, IsLinearBetweenWhatWasMeasured) {
  const std::vector<std::pair<int, Decimal>> cases = {
      {1, Decimal(1)},        {2, Decimal(143, 100)}, {3, Decimal(186, 100)},
      {4, Decimal(230, 100)}, {5, Decimal(274, 100)}, {6, Decimal(319, 100)},
      {7, Decimal(364, 100)}, {8, Decimal(409, 100)}, {9, Decimal(454, 100)}};
  for (const auto& [busy, wanted] : cases) {
    EXPECT_EQ(sim::sharing_factor(Sharing::kMps, busy), wanted) << busy;
    EXPECT_EQ(sim::sharing_factor(Sharing::kTimeSlices, busy), Decimal(busy)) << busy;
  }
}

TEST(RequestServing, BusySlicesOfTheSameGpuInterfere) {
  const Arrivals early = requests_at({0}, 1);
  const Arrivals late = requests_at({5 * kMs}, 1);
  Scenario scenario =
      scenario_of({service_of("a", kTen, early), service_of("b", kTen, late), service_of("c", kTen, late)},
                  {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "1g.10gb", 1), {1}),
                   holding_of(slice_at(1, "1g.10gb", 0), {2})},
                  2);
  scenario.interference = {Decimal(1), Decimal(3, 2)};
  const testing::Ran ran = run_fixed(scenario);
  EXPECT_DOUBLE_EQ(*ran.result.services[0].figures.latency_mean_ms, 10);
  EXPECT_DOUBLE_EQ(*ran.result.services[1].figures.latency_mean_ms, 15);
  EXPECT_DOUBLE_EQ(*ran.result.services[2].figures.latency_mean_ms, 10);
}

TEST(RequestServing, ARequestCountsWithTheAccuracyOfItsAnswer) {
  auto service = service_of("s", kTen, requests_at({500 * kMs, 1490 * kMs - 1, 1500 * kMs - 10 * kMs}, 3));
  service.accuracy = {.before_micro = 250'000, .after_micro = 900'000};
  Retraining retraining;
  retraining.every = Micros::seconds(100);
  retraining.swap = Micros(500'000);
  retraining.time_on = {{2, Micros::seconds(1)}};
  service.retraining = retraining;
  const Scenario scenario =
      scenario_of({service}, {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "1g.10gb", 1), {0}),
                              holding_of(slice_at(0, "2g.20gb", 2), {0}, Role::kRetraining)});
  // Due at 0, done at 1 s, swapped at 1.5 s: the answer of that microsecond has the new model, the one before it does
  // not.
  EXPECT_EQ(seconds_of(run_fixed(scenario)),
            (Lines{"510000 second 0 0 1 1 0 0 0 250000", "1500000 second 0 1 2 2 0 0 0 1150000"}));
}

TEST(RequestServing, ElsaPushesToTheSmallestSliceThatIsInTime) {
  const std::vector<testing::Row> rows = {{.profile = "1g.10gb", .latency_ms = 40},
                                          {.profile = "3g.40gb", .latency_ms = 10}};
  auto service = service_of("s", rows, requests_at({0, 1000, 2000, 3000, 4000, 5000, 6000}, 1));
  testing::set_target_ms(service, 50);
  service.drop = DropRule::kNever;
  const Scenario scenario =
      scenario_of({service}, {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "3g.40gb", 4), {0})});
  // 1g: 0 -> 40. 3g: 1 -> 11, 2 -> 21, 3 -> 31, 4 -> 41, 5 -> 51. The last is late on both (61 or 80), so it goes
  // where it ends first.
  EXPECT_NEAR(*run_fixed(scenario, 1, {.sharing = Sharing::kTimeSlices, .dispatch = Dispatch::kPush, .only = {}})
                   .result.figures.latency_mean_ms,
              (40 + 10 + 19 + 28 + 37 + 46 + 55) / 7.0, 1e-9);
}

TEST(RequestServing, ASliceThatCannotServeIsLost) {
  const std::vector<testing::Row> rows = {{.profile = "2g.20gb", .latency_ms = 10}};
  const testing::Ran ran = run_fixed(alone(service_of("s", rows, requests_at({0, 5}, 2))));
  EXPECT_EQ(ran.result.figures.unfinished, 2);
  EXPECT_DOUBLE_EQ(ran.result.figures.lost_slice_seconds, 2);
}

TEST(RequestServing, LateIsWhatIsAnsweredAfterTheTargetAndDroppedAfterTheAnswerIsWanted) {
  // One at a time, 10 ms each: answers at 10, 20, 30, .. ms; the target is 25 ms, answers are wanted for 45 ms.
  ServiceSpec service = service_of("s", kTen, requests_at({0, 0, 0, 0, 0, 0}, 1));
  service.target = Micros(25 * kMs);
  service.target_ms = Decimal(25);
  const Figures strict = run_fixed(alone(service)).result.figures;
  EXPECT_EQ(strict.in_time, 2);
  EXPECT_EQ(strict.late, 0);
  EXPECT_EQ(strict.dropped, 4);
  service.ready.answer = Micros(45 * kMs);
  const Figures patient = run_fixed(alone(service)).result.figures;
  EXPECT_EQ(patient.in_time, 2);
  EXPECT_EQ(patient.late, 2);
  EXPECT_EQ(patient.dropped, 2);
}

}  // namespace
}  // namespace berth::measure
