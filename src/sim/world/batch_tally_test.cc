#include "sim/world/batch_tally.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "domain/mig/catalogue.h"

namespace berth::sim {
namespace {

/// Two T4 and an A30; service 0 is known on the T4, service 1 everywhere.
Scenario two_services() {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("T4"), .count = 2, .usd_per_gpu_hour = {}},
                    {.model = *mig::find_gpu_model("A30"), .count = 1, .usd_per_gpu_hour = {}}};
  scenario.services.push_back({});
  scenario.services.push_back({});
  scenario.services[0].tier.known_on = {"T4-16GB"};
  return scenario;
}

TEST(BatchTally, ReportsAModelOnceAfterEnoughBatches) {
  const Scenario scenario = two_services();
  BatchTally tally(scenario);
  EXPECT_TRUE(tally.counts({0}));
  EXPECT_FALSE(tally.counts({1}));
  EXPECT_FALSE(tally.counts({2}));
  tally.add({0}, {2}, kMeasuringBatches - 0.5);
  EXPECT_TRUE(tally.take_measured().empty());
  tally.add({0}, {2}, 0.5);
  EXPECT_EQ(tally.take_measured(), (std::vector<TierMeasured>{{.service = {0}, .gpu = "A30-24GB"}}));
  tally.add({0}, {2}, 10 * kMeasuringBatches);
  EXPECT_TRUE(tally.take_measured().empty());
}

TEST(BatchTally, ReportsNoModelThatIsKnown) {
  const Scenario scenario = two_services();
  BatchTally tally(scenario);
  tally.add({0}, {0}, 10 * kMeasuringBatches);
  EXPECT_TRUE(tally.take_measured().empty());
}

TEST(BatchTally, GoesOnFromItsCounts) {
  const Scenario scenario = two_services();
  BatchTally before(scenario);
  before.add({0}, {0}, 10);
  before.add({0}, {2}, kMeasuringBatches - 0.75);
  EXPECT_EQ(before.counted({0}), (std::map<std::string, double>{{"A30-24GB", kMeasuringBatches - 0.75}}));
  EXPECT_TRUE(before.counted({1}).empty());

  BatchTally after(scenario);
  after.restore({0}, before.counted({0}));
  after.add({0}, {2}, 0.5);
  EXPECT_TRUE(after.take_measured().empty());
  after.add({0}, {2}, 0.5);
  EXPECT_EQ(after.take_measured().size(), 1U);
}

TEST(BatchTally, ReportsAgainAfterARestartUnlessItIsKnown) {
  const Scenario scenario = two_services();
  BatchTally before(scenario);
  before.add({0}, {2}, 3 * kMeasuringBatches);
  std::map<std::string, double> counted = before.counted({0});
  EXPECT_EQ(counted.at("A30-24GB"), kMeasuringBatches);

  BatchTally lost(scenario);
  lost.restore({0}, counted);
  lost.add({0}, {2}, 0.1);
  EXPECT_EQ(lost.take_measured().size(), 1U);

  counted.at("A30-24GB") = kKnownBatches;
  BatchTally known(scenario);
  known.restore({0}, counted);
  known.add({0}, {2}, 10 * kMeasuringBatches);
  EXPECT_TRUE(known.take_measured().empty());
  EXPECT_EQ(known.counted({0}).at("A30-24GB"), kMeasuringBatches);
}

TEST(BatchTally, CountsAnewWithAnotherSpec) {
  Scenario scenario = two_services();
  BatchTally tally(scenario);
  tally.add({0}, {2}, kMeasuringBatches);
  EXPECT_EQ(tally.take_measured().size(), 1U);
  tally.read_spec({0});
  tally.add({0}, {2}, kMeasuringBatches);
  EXPECT_EQ(tally.take_measured().size(), 1U);
  scenario.services[0].tier.known_on.clear();
  tally.read_spec({0});
  EXPECT_FALSE(tally.counts({0}));
}

}  // namespace
}  // namespace berth::sim
