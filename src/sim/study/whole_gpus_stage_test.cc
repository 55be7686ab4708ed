#include "engine/elastic/whole_gpus_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/world/run.h"
#include "sim/world/testing/scenarios.h"

namespace berth::elastic {
namespace {

using sim::JournalRecord;
using sim::testing::counted;
using sim::testing::scenario_of;
using sim::testing::service_of;
using sim::testing::shown;

/// One service whose slice answers 100 requests per second, and starts in 5 s.
Scenario elastic(std::int64_t gpus, std::int64_t provision_seconds, std::int64_t seconds = 60) {
  const std::vector<std::uint32_t> counts(static_cast<std::size_t>(seconds), 10);
  Scenario scenario =
      scenario_of({service_of("a", {{.profile = "full", .latency_ms = 10}}, counted(counts))}, {}, gpus);
  scenario.layout.reset();
  scenario.provision_seconds = provision_seconds;
  return scenario;
}

/// GPUs that were ordered, returned, or got a slice that serves: "10000000 gpu_on 1".
std::vector<std::string> news(const Scenario& scenario, const WholeGpuCounts& counts) {
  std::vector<std::string> lines;
  sim::RunOptions options;
  options.loop.world.gpus_at_start = static_cast<std::uint32_t>(gpus_at_start(scenario, counts));
  options.loop.listener.journal = [&](const JournalRecord& record) {
    if (!std::holds_alternative<sim::SecondRecord>(record)) lines.push_back(shown(record));
  };
  const auto outcome = sim::run_scenario(scenario, {whole_gpus_stage(scenario, counts)}, options);
  EXPECT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->refusals.count, 0) << outcome->refusals.first;
  return lines;
}

TEST(WholeGpusStage, AConstantNumberStandsFromTheBeginning) {
  const auto lines = news(elastic(2, 20), [](ServiceId, std::int64_t) { return 2; });
  const std::vector<std::string> wanted = {
      "0 gpu_on 0",           "0 gpu_on 1", "0 created 0:full@0 s0", "0 serving 0:full@0 s0", "0 created 1:full@0 s0",
      "0 serving 1:full@0 s0"};
  EXPECT_EQ(lines, wanted);
}

TEST(WholeGpusStage, OneMoreServesWhenItIsThereAndStarted) {
  const auto lines = news(elastic(2, 20), [](ServiceId, std::int64_t second) { return second < 10 ? 1 : 2; });
  EXPECT_EQ(lines.at(3), "10000000 gpu_on 1");
  EXPECT_EQ(lines.at(4), "30500000 created 1:full@0 s0");
  EXPECT_EQ(lines.at(5), "35500000 serving 1:full@0 s0");
}

TEST(WholeGpusStage, OneFewerIsGivenBackWhenItsSliceIsGone) {
  const auto lines = news(elastic(2, 20), [](ServiceId, std::int64_t second) { return second < 10 ? 2 : 1; });
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines.back(), "10500000 gpu_off 1");
  EXPECT_EQ(lines.at(lines.size() - 2), "10500000 destroyed 1:full@0 s0");
}

TEST(WholeGpusStage, ThoseOnTheirWayAreReleasedFirst) {
  const auto wanted = [](ServiceId, std::int64_t second) { return second < 10 ? 1 : second < 15 ? 2 : 1; };
  const auto lines = news(elastic(3, 20), wanted);
  const std::vector<std::string> tail(lines.end() - 2, lines.end());
  const std::vector<std::string> expected = {"10000000 gpu_on 1", "15000000 gpu_off 1"};
  EXPECT_EQ(tail, expected);
}

TEST(WholeGpusStage, AServiceWithoutGpusGetsThemLater) {
  const auto lines = news(elastic(1, 20), [](ServiceId, std::int64_t second) { return second < 10 ? 0 : 1; });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.at(0), "10000000 gpu_on 0");
  EXPECT_EQ(lines.at(2), "35500000 serving 0:full@0 s0");
}

TEST(WholeGpusStage, SeveralAreOrderedAtOnce) {
  const auto lines = news(elastic(5, 20), [](ServiceId, std::int64_t second) { return second < 10 ? 2 : 4; });
  EXPECT_EQ(std::ranges::count(lines, "10000000 gpu_on 2"), 1);
  EXPECT_EQ(std::ranges::count(lines, "10000000 gpu_on 3"), 1);
  EXPECT_EQ(std::ranges::count(lines, "35500000 serving 3:full@0 s0"), 1);
}

TEST(WholeGpusStage, ServicesGetMoreByTurns) {
  Scenario scenario = elastic(6, 20);
  scenario.fidelity = Fidelity::kRates;
  ServiceSpec other = std::as_const(scenario.services)[0];
  other.name = other.tenant = "b";
  scenario.services.push_back(other);
  const auto wanted = [](ServiceId service, std::int64_t second) {
    return second < 10 + 10 * static_cast<std::int64_t>(service.index) ? 1 : 2;
  };
  const auto lines = news(scenario, wanted);
  EXPECT_EQ(std::ranges::count(lines, "10000000 gpu_on 2"), 1);
  EXPECT_EQ(std::ranges::count(lines, "20000000 gpu_on 3"), 1);
  EXPECT_EQ(std::ranges::count(lines, "35500000 serving 2:full@0 s0"), 1);
  EXPECT_EQ(std::ranges::count(lines, "45500000 serving 3:full@0 s1"), 1);
}

}  // namespace
}  // namespace berth::elastic
