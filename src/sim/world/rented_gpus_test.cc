#include "sim/world/rented_gpus.h"

#include <gtest/gtest.h>

#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::counted;
using testing::scenario_of;
using testing::service_of;

const JournalSink kNoJournal;

Scenario elastic(std::int64_t gpus, std::int64_t provision_seconds) {
  Scenario scenario = scenario_of({service_of("a", {{}}, counted({1, 1, 1}))}, {}, gpus);
  scenario.provision_seconds = provision_seconds;
  return scenario;
}

TEST(RentedGpus, AConstantFleetIsThereAndPaidForAllTheTime) {
  const Scenario scenario = scenario_of({service_of("a", {{}}, counted({1}))}, {}, 3);
  std::vector<JournalRecord> journal;
  const JournalSink sink = [&](const JournalRecord& record) { journal.push_back(record); };
  const RentedGpus rented(scenario, std::nullopt, sink);
  EXPECT_FALSE(rented.is_elastic());
  EXPECT_TRUE(rented.is_here({2}));
  EXPECT_EQ(rented.paid_us(Instant::at_second(10)), 30'000'000);
  EXPECT_TRUE(journal.empty());
}

TEST(RentedGpus, AnOrderedGpuIsPaidFromItsOrderAndThereLater) {
  const Scenario scenario = elastic(2, 60);
  std::vector<JournalRecord> journal;
  const JournalSink sink = [&](const JournalRecord& record) { journal.push_back(record); };
  RentedGpus rented(scenario, 1, sink);
  EXPECT_TRUE(rented.is_absent({1}));
  rented.order({1}, Instant::at_second(5));
  EXPECT_FALSE(rented.is_here({1}));
  EXPECT_EQ(rented.next_time(), Instant::at_second(65));
  EXPECT_TRUE(rented.take_arrived(Instant::at_second(64)).empty());
  EXPECT_EQ(rented.take_arrived(Instant::at_second(65)), std::vector<GpuId>{{1}});
  EXPECT_TRUE(rented.is_here({1}));
  EXPECT_EQ(rented.next_time(), Instant::never());
  EXPECT_EQ(rented.paid_us(Instant::at_second(100)), 195'000'000);
  const std::vector<JournalRecord> wanted = {GpuRecord{.at = Instant(), .gpu = {0}, .is_on = true},
                                             GpuRecord{.at = Instant::at_second(5), .gpu = {1}, .is_on = true}};
  EXPECT_EQ(journal, wanted);
}

TEST(RentedGpus, OneThatIsReleasedBeforeItIsThereIsGivenBackAtOnce) {
  const Scenario scenario = elastic(2, 60);
  RentedGpus rented(scenario, 1, kNoJournal);
  rented.order({1}, Instant::at_second(5));
  EXPECT_TRUE(rented.release({1}, Instant::at_second(7)));
  EXPECT_TRUE(rented.is_absent({1}));
  EXPECT_EQ(rented.next_time(), Instant::never());
  EXPECT_EQ(rented.paid_us(Instant::at_second(10)), 12'000'000);
}

TEST(RentedGpus, OneThatIsThereIsPaidForUntilItIsGivenBack) {
  const Scenario scenario = elastic(2, 60);
  RentedGpus rented(scenario, 2, kNoJournal);
  EXPECT_FALSE(rented.release({0}, Instant::at_second(3)));
  EXPECT_EQ(rented.leaving(), std::set<GpuId>{{0}});
  rented.give_back({0}, Instant::at_second(4));
  EXPECT_TRUE(rented.leaving().empty());
  const std::vector<RentedCount> wanted = {{.from = Instant(), .gpus = 2}, {.from = Instant::at_second(4), .gpus = 1}};
  EXPECT_EQ(rented.counts(), wanted);
  EXPECT_EQ(rented.paid_us(Instant::at_second(10)), 14'000'000);
}

TEST(RentedGpus, CountsOfOneInstantAreOne) {
  const Scenario scenario = elastic(3, 0);
  RentedGpus rented(scenario, 1, kNoJournal);
  rented.order({1}, Instant::at_second(2));
  rented.order({2}, Instant::at_second(2));
  const std::vector<RentedCount> wanted = {{.from = Instant(), .gpus = 1}, {.from = Instant::at_second(2), .gpus = 3}};
  EXPECT_EQ(rented.counts(), wanted);
}

}  // namespace
}  // namespace berth::sim
