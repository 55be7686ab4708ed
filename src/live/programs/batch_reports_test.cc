#include "live/programs/batch_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::live {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const SpeedPlace kPlace{.service = {0}, .gpu = "A100-80GB", .profile = "1g.10gb"};

ServerTimes times_of(std::int64_t started_us, std::int64_t count, std::int64_t sum_us) {
  return {.started_us = started_us, .sums = {{.batch = 2, .count = count, .sum_us = sum_us}}};
}

TEST(BatchReports, ReadsWhatAServerSays) {
  const auto times =
      read_server_times(R"({"started_us":5,"device":"d","items":[)"
                        R"({"model":"m","version":"1","batch":2,"count":3,"sum_us":60,"sum_squares":1},)"
                        R"({"model":"m","version":"2","batch":2,"count":1,"sum_us":20,"sum_squares":1}]})");
  EXPECT_EQ(times, times_of(5, 4, 80));
  for (const char* wrong : {"", "{}", R"({"started_us":5,"items":[{"batch":0,"count":1,"sum_us":1}]})",
                            R"({"started_us":5,"items":[{"batch":1,"count":-1,"sum_us":1}]})"}) {
    EXPECT_FALSE(read_server_times(wrong)) << wrong;
  }
}

TEST(BatchReports, OnlyNewBatchesCount) {
  BatchReports reports;
  reports.add({"s", 1}, kPlace, {10, 15}, times_of(5, 4, 80));
  auto taken = reports.take(7);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken.front(),
            (sim::BatchTimes{.place = kPlace, .second = 7, .batches = 4, .table_us = 60, .real_us = 80}));
  reports.add({"s", 1}, kPlace, {10, 15}, times_of(5, 4, 80));
  EXPECT_THAT(reports.take(8), IsEmpty());
  reports.add({"s", 1}, kPlace, {10, 15}, times_of(5, 6, 110));
  reports.add({"t", 1}, kPlace, {10, 15}, times_of(5, 1, 15));
  taken = reports.take(9);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken.front().batches, 3);
  EXPECT_EQ(taken.front().real_us, 45);
}

TEST(BatchReports, AServerThatStartedAgainBeginsAnew) {
  BatchReports reports;
  reports.add({"s", 1}, kPlace, {10, 15}, times_of(5, 4, 80));
  static_cast<void>(reports.take(1));
  reports.add({"s", 1}, kPlace, {10, 15}, times_of(6, 2, 30));
  EXPECT_EQ(reports.take(2).front().batches, 2);
}

TEST(BatchReports, BatchesThatTheTableDoesNotHaveDoNotCount) {
  BatchReports reports;
  reports.add({"s", 1}, kPlace, {10}, times_of(5, 4, 80));
  EXPECT_THAT(reports.take(1), IsEmpty());
}

}  // namespace
}  // namespace berth::live
