#include "live/session/request_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/core/archive.h"

namespace berth::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::int64_t kEpochSecond = 1'000'000;

class Requests : public ::testing::Test {
 protected:
  static RequestRecord record(std::uint64_t number, std::int64_t second, std::int64_t arrivals,
                              std::int64_t in_time = 0) {
    return {.number = number,
            .tenant = "t",
            .service = "s",
            .second = kEpochSecond + second,
            .arrivals = arrivals,
            .in_time = in_time};
  }
  void report(std::int64_t now, std::vector<RequestRecord> records, const std::string& gateway = "g") {
    book_.add({.gateway = gateway, .table = 0, .records = std::move(records)},
              {.epoch_us = kEpochSecond * kMicrosPerSecond,
               .now = Instant::at_second(now),
               .find = [](const std::string& tenant, const std::string& service) -> std::optional<ServiceId> {
                 if (tenant == "t" && service == "s") return ServiceId{0};
                 return std::nullopt;
               }});
  }
  /// Seconds with their arrivals.
  std::vector<std::pair<std::int64_t, std::int64_t>> take() {
    std::vector<std::pair<std::int64_t, std::int64_t>> seconds;
    for (const RequestBook::Second& each : book_.take({{0}})) {
      seconds.emplace_back(each.second, each.figures.requests);
      in_time_ += each.figures.in_time;
    }
    return seconds;
  }

  RequestBook book_;
  std::int64_t in_time_ = 0;
};

TEST_F(Requests, ASecondIsKnownAfterItsEnd) {
  report(5, {record(1, 5, 3)});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_THAT(book_.take_counted(), IsEmpty());
  report(6, {record(2, 5, 1, 4)});
  EXPECT_THAT(take(), ElementsAre(Pair(5, 4)));
  EXPECT_EQ(in_time_, 4);
  EXPECT_THAT(book_.take_counted(), ElementsAre(Pair("g", 2)));
}

TEST_F(Requests, ARecordCountsOnce) {
  report(6, {record(1, 5, 3)});
  report(6, {record(1, 5, 3), record(2, 5, 2)});
  EXPECT_THAT(take(), ElementsAre(Pair(5, 5)));
  report(7, {record(1, 5, 3)});
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(Requests, SecondsBetweenReportsOfAGatewayAreEmptyBeforeItUnknown) {
  report(100, {record(1, 99, 3)});
  EXPECT_THAT(take(), ElementsAre(Pair(99, 3)));
  report(104, {record(2, 103, 1)});
  EXPECT_THAT(take(), ElementsAre(Pair(100, 0), Pair(101, 0), Pair(102, 0), Pair(103, 1)));
}

TEST_F(Requests, AnotherGatewayKnowsNothingOfThePast) {
  report(100, {record(1, 99, 3)});
  static_cast<void>(take());
  report(110, {record(1, 109, 2)}, "h");
  EXPECT_THAT(take(), ElementsAre(Pair(109, 2)));
}

TEST_F(Requests, EmptySecondsAreHeldForAWhile) {
  report(100, {record(1, 99, 3)});
  static_cast<void>(take());
  report(105, {});
  EXPECT_THAT(take(), IsEmpty());
  report(110, {});
  EXPECT_THAT(take(), SizeIs(10));
}

TEST_F(Requests, WhatComesLateCountsInTheNextSecond) {
  report(100, {record(1, 99, 3)});
  static_cast<void>(take());
  report(101, {record(2, 99, 0, 3), record(3, 98, 1)});
  const auto seconds = book_.take({{0}});
  ASSERT_THAT(seconds, SizeIs(1));
  EXPECT_EQ(seconds.front().second, 100);
  EXPECT_EQ(seconds.front().figures.requests, 1);
  ASSERT_THAT(seconds.front().figures.settled, SizeIs(1));
  EXPECT_EQ(seconds.front().figures.settled.front().second, 99);
}

TEST_F(Requests, RecordsOfServicesThatAreGoneAreTaken) {
  RequestRecord other = record(1, 99, 5);
  other.service = "gone";
  report(100, {other});
  EXPECT_THAT(take(), IsEmpty()) << "it is little news";
  report(102, {record(2, 101, 1)});
  EXPECT_THAT(take(), ElementsAre(Pair(99, 0), Pair(100, 0), Pair(101, 1)));
  EXPECT_THAT(book_.take_counted(), ElementsAre(Pair("g", 2)));
}

TEST_F(Requests, WhatWasReportedLaterThanItHappenedIsInItsSeconds) {
  report(100, {record(1, 99, 3)});
  static_cast<void>(take());
  // Nobody took records for a while.
  report(160, {record(2, 100, 4), record(3, 101, 5)});
  EXPECT_THAT(take(), ElementsAre(Pair(100, 4)));
  report(160, {record(4, 159, 6)});
  const auto seconds = take();
  EXPECT_THAT(seconds, SizeIs(59));
  EXPECT_THAT(seconds.front(), Pair(101, 5));
  EXPECT_THAT(seconds.back(), Pair(159, 6));
}

TEST_F(Requests, ItsMemoryKnowsWhatWasCounted) {
  report(100, {record(1, 99, 3)});
  static_cast<void>(take());
  static_cast<void>(book_.take_counted());
  ArchiveWriter writer;
  writer(book_);
  RequestBook restored;
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  reader(restored);
  ASSERT_TRUE(reader.is_at_end());
  book_ = std::move(restored);
  report(103, {record(1, 99, 3), record(2, 101, 4)});
  EXPECT_THAT(take(), ElementsAre(Pair(100, 0), Pair(101, 4), Pair(102, 0)));
}

}  // namespace
}  // namespace berth::live
