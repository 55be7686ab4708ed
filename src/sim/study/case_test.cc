#include "sim/study/case.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the vocabulary of scenarios

constexpr std::int64_t kHourUs = 3'600'000'000;

TEST(CheapestCommitment, CommitsWhatIsUsedOftenEnough) {
  const std::vector<sim::RentedCount> counts = {
      {.from = Instant(), .gpus = 3}, {.from = Instant(kHourUs), .gpus = 1}, {.from = Instant(3 * kHourUs), .gpus = 2}};
  const Instant until(4 * kHourUs);
  // The first GPU is used in 4 of 4 hours, the second in 2, the third in 1.
  const auto cheapest = [&](const Decimal& committed) {
    return cheapest_commitment(counts, until, committed, Decimal(2));
  };
  EXPECT_EQ(cheapest(Decimal(3)), (Commitment{.gpus = 0, .cost_micro_usd = 14'000'000}));
  EXPECT_EQ(cheapest(Decimal(12, 10)), (Commitment{.gpus = 1, .cost_micro_usd = 10'800'000}));
  EXPECT_EQ(cheapest(Decimal(9, 10)), (Commitment{.gpus = 2, .cost_micro_usd = 9'200'000}));
  EXPECT_EQ(cheapest(Decimal(4, 10)), (Commitment{.gpus = 3, .cost_micro_usd = 4'800'000}));
  EXPECT_EQ(cheapest(Decimal(2)).gpus, 0) << "a tie is the smaller commitment";
}

/// Two services whose loads rise and fall alternately; a whole GPU answers 400 requests per second, a 3g 200.
Scenario two_tides() {
  const auto tide = [](std::int64_t shift) {
    std::vector<std::uint32_t> counts;
    for (std::int64_t second = 0; second < 900; ++second) {
      const bool is_high = (second + shift) / 150 % 2 == 1;
      counts.push_back(is_high ? 900 : 150);
    }
    Arrivals arrivals = counted(counts);
    arrivals.from_second = 600;
    arrivals.seconds = 300;
    return arrivals;
  };
  const std::vector<Row> rows = {{.profile = "1g.10gb", .batch = 2, .latency_ms = 40},
                                 {.profile = "2g.20gb", .batch = 5, .latency_ms = 40},
                                 {.profile = "3g.40gb", .batch = 8, .latency_ms = 40},
                                 {.profile = "7g.80gb", .batch = 16, .latency_ms = 40},
                                 {.profile = "full", .batch = 16, .latency_ms = 40}};
  Scenario scenario = scenario_of({service_of("a", rows, tide(0)), service_of("b", rows, tide(150))}, {}, 1);
  for (std::uint32_t index = 0; index < 2; ++index) {
    ServiceSpec spec = std::as_const(scenario.services)[index];
    set_target_ms(spec, 1500);
    scenario.services.set(index, spec);
  }
  scenario.layout.reset();
  scenario.fidelity = Fidelity::kRates;
  scenario.provision_seconds = 30;
  return scenario;
}

/// The figures of a step from its journal, counted without the code that made the figures.
struct Recounted {
  std::int64_t gpu_us = 0;
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
};

Recounted recount(const std::vector<sim::JournalRecord>& journal, Instant end) {
  Recounted count;
  std::map<GpuId, Instant> on;
  for (const sim::JournalRecord& record : journal) {
    if (const auto* gpu = std::get_if<sim::GpuRecord>(&record)) {
      if (gpu->is_on) {
        EXPECT_TRUE(on.emplace(gpu->gpu, gpu->at).second) << "ordered twice";
      } else {
        count.gpu_us += (gpu->at - on.at(gpu->gpu)).count();
        on.erase(gpu->gpu);
      }
    }
    if (const auto* second = std::get_if<sim::SecondRecord>(&record)) {
      count.requests += second->requests;
      count.in_time += second->in_time;
    }
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    EXPECT_TRUE(slice == nullptr || on.contains(slice->slice.gpu)) << "a slice on a GPU that is not paid for";
  }
  for (const auto& [gpu, since] : on) count.gpu_us += (end - since).count();
  return count;
}

TEST(Case, FiguresFollowFromTheJournalsAndStepsSave) {
  const Scenario scenario = two_tides();
  std::map<std::string, std::vector<sim::JournalRecord>> journals;
  CaseHooks hooks;
  hooks.journal = [&](std::string_view step, const sim::JournalRecord& record) {
    journals[std::string(step)].push_back(record);
  };
  const CaseOptions options{.committed_micro_usd_per_gpu_hour = 2'000'000'000};
  const auto result = run_case(scenario, options, hooks);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->steps.size(), 6U);
  EXPECT_FALSE(result->is_small);
  const Instant end = Instant::at_second(300);
  for (const CaseStep& step : result->steps) {
    ASSERT_FALSE(step.infeasible) << step.name << ": " << *step.infeasible;
    const Recounted count = recount(journals.at(step.name), end);
    EXPECT_EQ(step.gpu_us, count.gpu_us) << step.name;
    EXPECT_EQ(step.requests, count.requests) << step.name;
    EXPECT_EQ(step.in_time, count.in_time) << step.name;
    if (step.name == "commitments") continue;
    EXPECT_EQ(step.cost_micro_usd, count.gpu_us) << "a GPU costs a micro-dollar per microsecond here: " << step.name;
    EXPECT_LE(step.utilisation.effective, step.utilisation.busy + 1e-9) << step.name;
    EXPECT_LE(step.utilisation.busy, step.utilisation.allocated + 1e-9) << step.name;
    EXPECT_LE(step.utilisation.allocated, 1 + 1e-9) << step.name;
  }
  const auto& steps = result->steps;
  for (const std::size_t sized : {0U, 2U, 3U}) EXPECT_TRUE(steps[sized].holds) << steps[sized].name;
  EXPECT_LT(steps[2].cost_micro_usd, steps[0].cost_micro_usd);
  EXPECT_LE(steps[5].cost_micro_usd, steps[4].cost_micro_usd);
}

TEST(Case, TheSameArgumentsGiveTheSameResult) {
  const Scenario scenario = two_tides();
  const auto first = run_case(scenario, {}, {});
  const auto second = run_case(scenario, {}, {});
  ASSERT_TRUE(first && second);
  for (std::size_t i = 0; i < first->steps.size(); ++i) {
    EXPECT_EQ(first->steps[i].counts, second->steps[i].counts);
    EXPECT_EQ(first->steps[i].in_time, second->steps[i].in_time);
  }
}

TEST(Case, AStepCanBeStopped) {
  CaseHooks hooks;
  hooks.progress = [](std::string_view step, double) { return step != "slices"; };
  const auto result = run_case(two_tides(), {}, hooks);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

TEST(Case, WhatIsWantedIsSaid) {
  Scenario scenario = two_tides();
  scenario.provision_seconds.reset();
  EXPECT_EQ(check_case(scenario).error().message,
            "test: wanted scaling: {provision_seconds: ...} or --provision-seconds, found neither");
  scenario.provision_seconds = 30;
  scenario.fleet.front().usd_per_gpu_hour.reset();
  EXPECT_EQ(check_case(scenario).error().message, "test: fleet: wanted usd_per_gpu_hour, found none");
}

}  // namespace
}  // namespace berth::study
