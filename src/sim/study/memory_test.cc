// The memory of a run does not grow with its length.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::holding_of;
using testing::slice_at;

/// Overload, a light load that is pushed to replicas, and retrainings that borrow a slice every ten seconds.
Scenario busy_world(std::int64_t seconds, Fidelity fidelity) {
  const std::vector<testing::Row> rows = {{.batch = 8, .processes = 3, .latency_ms = 10}};
  auto crowded =
      testing::service_of("crowded", rows, testing::generated(Generator::Kind::kPoisson, Decimal(3000), seconds));
  auto retrains =
      testing::service_of("retrains", rows, testing::generated(Generator::Kind::kBursty, Decimal(100), seconds));
  retrains.start = Micros(100'000);
  Retraining retraining;
  retraining.every = Micros::seconds(10);
  retraining.time_on = {{1, Micros::seconds(4)}};
  retrains.retraining = retraining;
  Scenario scenario = testing::scenario_of(
      {crowded, retrains}, {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "1g.10gb", 1), {1}),
                            holding_of(slice_at(0, "1g.10gb", 2), {1})});
  scenario.history_seconds = 60;
  scenario.fidelity = fidelity;
  return scenario;
}

/// The peak memory of a run in a process of its own, in KiB.
long peak_kib(const Scenario& scenario) {
  const pid_t child = fork();
  if (child == 0) {
    auto stages = testing::fixed_stages(scenario);
    stages.push_back(retraining_stage(scenario));
    sim::RunOptions options;
    options.loop.listener.journal = [](const sim::JournalRecord&) {};
    const auto outcome = sim::run_scenario(scenario, std::move(stages), options);
    _exit(outcome.has_value() && outcome->world != nullptr ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  return usage.ru_maxrss;
}

TEST(Memory, DoesNotGrowWithTheLengthOfTheRun) {
  if (testing::kIsSlowBuild) GTEST_SKIP() << "sanitizers keep memory of their own";
  for (const Fidelity fidelity : {Fidelity::kRequests, Fidelity::kRates}) {
    const long once = peak_kib(busy_world(100, fidelity));
    const long twenty_times = peak_kib(busy_world(2000, fidelity));
    RecordProperty(fidelity == Fidelity::kRequests ? "requests" : "rates",
                   std::to_string(once) + " " + std::to_string(twenty_times));
    EXPECT_LT(twenty_times, once + 512) << "KiB";
  }
}

}  // namespace
}  // namespace berth::study
