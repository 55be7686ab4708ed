#include "sim/world/service_meter.h"

#include <gtest/gtest.h>

#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

class ServiceMeterTest : public ::testing::Test {
 protected:
  std::vector<std::string> lines_;
  JournalSink sink_ = [this](const JournalRecord& record) { lines_.push_back(testing::shown(record)); };
  /// Sets the requests of the seconds from 0 on.
  void arrive(std::vector<std::uint32_t> counts) {
    arrivals_ = testing::counted(std::move(counts));
    stream_.emplace(arrivals_, Rng(1));
    meter_.emplace(ServiceId{2}, *stream_, sink_);
  }

  Arrivals arrivals_;
  std::optional<ArrivalStream> stream_;
  std::optional<ServiceMeter> meter_;
};

TEST_F(ServiceMeterTest, ASecondIsReportedWhenItsLastRequestIsSettled) {
  arrive({0, 0, 0, 0, 3});
  meter_->expect(4, 3);
  meter_->settle_in_time(4, 1, 500'000, Instant(4'100'000));
  meter_->settle_late(4, 1, Instant(4'200'000));
  EXPECT_TRUE(lines_.empty());
  meter_->settle_dropped(4, 1, Instant(4'300'000));
  EXPECT_EQ(lines_, std::vector<std::string>{"4300000 second 2 4 3 1 1 1 0 500000"});
}

TEST_F(ServiceMeterTest, SecondsMaySettleInAnyOrderAndAreReportedOnce) {
  arrive({0, 1, 1, 0, 0, 1});
  for (const std::int64_t second : {1, 2, 5}) meter_->expect(second, 1);
  meter_->settle_in_time(2, 1, 1, Instant(6));
  meter_->settle_in_time(5, 1, 1, Instant(7));
  meter_->settle_in_time(1, 1, 1, Instant(8));
  meter_->finish(Instant(9));
  EXPECT_EQ(lines_, (std::vector<std::string>{"6 second 2 2 1 1 0 0 0 1", "7 second 2 5 1 1 0 0 0 1",
                                              "8 second 2 1 1 1 0 0 0 1"}));
}

TEST_F(ServiceMeterTest, WhatIsNotSettledIsUnfinished) {
  arrive({2, 5});
  meter_->expect(0, 2);
  meter_->expect(1, 5);
  meter_->settle_dropped(1, 4, Instant(1));
  meter_->finish(Instant(2));
  EXPECT_EQ(lines_, (std::vector<std::string>{"2 second 2 0 2 0 0 0 2 0", "2 second 2 1 5 0 0 4 1 0"}));
  EXPECT_EQ(meter_->totals().unfinished, 3);
  EXPECT_EQ(meter_->totals().requests, 7);
}

TEST_F(ServiceMeterTest, WhatIsNewIsReportedToTheEngine) {
  arrive({4});
  meter_->expect(0, 4);
  meter_->settle_in_time(0, 2, 1, Instant(1));
  const ServiceSecond first = meter_->take_second(0, 4, 2);
  EXPECT_EQ(
      first,
      (ServiceSecond{.service = {2}, .second = 0, .arrivals = 4, .in_time = 2, .late = 0, .dropped = 0, .queued = 2}));
  meter_->settle_late(0, 1, Instant(2));
  const ServiceSecond second = meter_->take_second(1, 0, 1);
  EXPECT_EQ(second.in_time, 0);
  EXPECT_EQ(second.late, 1);
}

TEST_F(ServiceMeterTest, AMeasuredSecondSaysOfWhichSecondsRequestsWereSettled) {
  arrive({4, 2});
  meter_->keep_recent();
  meter_->expect(0, 4);
  meter_->settle_in_time(0, 1, 900'000, Instant(1));
  EXPECT_EQ(meter_->measure_second(0, 4, 3).settled,
            (std::vector<SettledRequests>{{.second = 0, .in_time = 1, .accuracy_sum_micro = 900'000}}));
  meter_->expect(1, 2);
  meter_->settle_late(0, 1, Instant(2));
  meter_->settle_in_time(1, 2, 100'000, Instant(3));
  meter_->settle_dropped(0, 2, Instant(4));
  EXPECT_EQ(meter_->measure_second(1, 2, 0).settled,
            (std::vector<SettledRequests>{{.second = 0, .late = 1, .dropped = 2},
                                          {.second = 1, .in_time = 2, .accuracy_sum_micro = 200'000}}));
  EXPECT_TRUE(meter_->measure_second(2, 0, 0).settled.empty());
}

TEST_F(ServiceMeterTest, BatchesCountInTheSecondInWhichTheyBegin) {
  arrive({4, 2});
  meter_->keep_recent();
  meter_->add_batch();
  meter_->add_batch();
  EXPECT_EQ(meter_->measure_second(0, 4, 0).batches, 2);
  EXPECT_EQ(meter_->measure_second(1, 2, 0).batches, 0);
  meter_->add_batch();
  EXPECT_EQ(meter_->measure_second(2, 0, 0, false).batches, std::nullopt);
}

TEST_F(ServiceMeterTest, OfWhatWaitedForLongTheOldestSecondsAreOneSum) {
  constexpr std::int64_t kSeconds = 10'000;
  arrive(std::vector<std::uint32_t>(kSeconds, 1));
  meter_->keep_recent();
  for (std::int64_t second = 0; second < kSeconds; ++second) meter_->expect(second, 1);
  for (std::int64_t second = 0; second < kSeconds; ++second) meter_->settle_dropped(second, 1, Instant(1));
  const std::vector<SettledRequests> settled = meter_->measure_second(kSeconds, 0, 0).settled;
  EXPECT_LE(settled.size(), 2048U);
  EXPECT_GT(settled.size(), 1000U);
  EXPECT_EQ(settled.back(), (SettledRequests{.second = kSeconds - 1, .dropped = 1}));
  std::int64_t dropped = 0;
  for (const SettledRequests& each : settled) dropped += each.dropped;
  EXPECT_EQ(dropped, kSeconds);
}

TEST_F(ServiceMeterTest, ALongQueueIsStoredAsOneRange) {
  std::vector<std::uint32_t> counts(1000, 2);
  for (std::size_t second = 0; second < counts.size(); second += 3) counts[second] = 0;
  arrive(counts);
  for (std::int64_t second = 0; second < 1000; ++second) {
    if (counts[static_cast<std::size_t>(second)] > 0) meter_->expect(second, 2);
    EXPECT_LE(meter_->open_count(), 2U);
  }
  for (std::int64_t second = 0; second < 999; ++second) {
    if (counts[static_cast<std::size_t>(second)] > 0) meter_->settle_late(second, 2, Instant(second));
    EXPECT_LE(meter_->open_count(), 2U);
  }
  EXPECT_EQ(meter_->open_count(), 0U);
  EXPECT_EQ(lines_.size(), 666U);
  EXPECT_EQ(lines_.back(), "998 second 2 998 2 0 2 0 0 0");
}

TEST_F(ServiceMeterTest, SecondsOfARangeSettleInAnyOrder) {
  arrive({1, 1, 2, 0, 1, 1});
  for (const std::int64_t second : {0, 1, 2, 4, 5}) meter_->expect(second, second == 2 ? 2 : 1);
  EXPECT_EQ(meter_->open_count(), 2U);
  meter_->settle_late(2, 1, Instant(6));
  EXPECT_EQ(meter_->open_count(), 4U);
  meter_->settle_late(4, 1, Instant(7));
  meter_->settle_late(0, 1, Instant(8));
  meter_->finish(Instant(9));
  EXPECT_EQ(lines_, (std::vector<std::string>{"7 second 2 4 1 0 1 0 0 0", "8 second 2 0 1 0 1 0 0 0",
                                              "9 second 2 1 1 0 0 0 1 0", "9 second 2 2 2 0 1 0 1 0",
                                              "9 second 2 5 1 0 0 0 1 0"}));
  EXPECT_EQ(meter_->totals().unfinished, 3);
}

}  // namespace
}  // namespace berth::sim
