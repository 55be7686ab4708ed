#include "serving/gateway/request_book.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

const ServiceKey kDigits{"vision", "digits"};

TEST(RequestBook, TheCurrentSecondStaysOpen) {
  RequestBook book(Micros::seconds(600), 100);
  book.arrive(kDigits, 50);
  book.close_seconds(50, {}, Instant());
  EXPECT_EQ(book.kept_count(), 0U);
  book.close_seconds(51, {}, Instant());
  EXPECT_EQ(book.kept_count(), 1U);
}

TEST(RequestBook, ListedServicesHaveARecordForEachSecond) {
  RequestBook book(Micros::seconds(600), 100);
  const std::vector<WaitingCount> services = {{.key = &kDigits, .waiting = 7}};
  book.close_seconds(50, services, Instant());
  EXPECT_EQ(book.kept_count(), 0U);  // the gateway was not there for the whole second
  book.close_seconds(52, services, Instant());
  ASSERT_EQ(book.kept_count(), 2U);
  EXPECT_EQ(book.oldest(9, 9'999)[1].second, 51);
  EXPECT_EQ(book.oldest(9, 9'999)[1].queued, 7);
  book.close_seconds(500, services, Instant());  // it was stopped
  EXPECT_EQ(book.kept_count(), 2U);
  book.close_seconds(400, services, Instant());  // the clock was set back
  book.close_seconds(401, services, Instant());
  EXPECT_EQ(book.kept_count(), 3U);
}

TEST(RequestBook, RecordsThatNobodyTakesAreLostAfterTheirTime) {
  RequestBook book(Micros::seconds(600), 3);
  for (std::int64_t second = 1; second <= 5; ++second) {
    book.drop(kDigits, second);
    book.close_seconds(second + 1, {}, Instant::at_second(second));
  }
  EXPECT_EQ(book.kept_count(), 3U);
  EXPECT_EQ(book.lost_count(), 2U);
  EXPECT_EQ(book.oldest(1, 9'999).front().number, 3U);
  book.close_seconds(700, {}, Instant::at_second(604));
  EXPECT_EQ(book.kept_count(), 2U);
  EXPECT_EQ(book.oldest(9, 1).size(), 1U);
}

}  // namespace
}  // namespace berth::serving
