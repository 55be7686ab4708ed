#include "live/session/forecast_book.h"

#include <gtest/gtest.h>

#include "base/core/archive.h"

namespace berth::live {
namespace {

constexpr forecast::Bands kTenToTwenty{.low_95 = 5, .low_80 = 10, .high_80 = 20, .high_95 = 25};

ServiceSecond arrived(std::int64_t second, std::int64_t arrivals) {
  return {.service = {0}, .second = second, .arrivals = arrivals};
}

TEST(ForecastBook, JudgesByBothBands) {
  ForecastBook book;
  std::int64_t second = 60;
  for (const std::int64_t arrivals : {9, 10, 15, 20, 24, 30}) {
    book.keep({0}, second, kTenToTwenty);
    EXPECT_FALSE(book.note(arrived(second, arrivals)));
    second += 60;
  }
  const ForecastSums sums = book.recent({0});
  EXPECT_EQ(sums.judged, 6);
  EXPECT_EQ(sums.inside_80, 2);  // a count owns [y, y + 1): 20 is beyond the edge
  EXPECT_EQ(sums.inside_95, 5);
  EXPECT_EQ(book.totals({0}).judged, 6);
}

TEST(ForecastBook, SecondsThatNobodySawAreNotJudged) {
  ForecastBook book;
  book.keep({0}, 60, kTenToTwenty);
  EXPECT_FALSE(book.note(arrived(59, 1)));
  EXPECT_FALSE(book.note(arrived(61, 15)));
  EXPECT_FALSE(book.note(arrived(60, 15)));
  EXPECT_EQ(book.recent({0}).judged, 0);
}

/// Minute after minute, one forecast of each five is in the band, or four.
bool run(ForecastBook& book, std::int64_t from, std::int64_t count, int inside_of_five) {
  bool became_off = false;
  for (std::int64_t minute = from; minute < from + count; ++minute) {
    book.keep({0}, minute * 60, kTenToTwenty);
    became_off = book.note(arrived(minute * 60, minute % 5 < inside_of_five ? 15 : 100)) || became_off;
  }
  return became_off;
}

TEST(ForecastBook, IsOffOnceWithTooFewInTheBand) {
  ForecastBook book;
  EXPECT_FALSE(run(book, 0, 199, 1));
  EXPECT_TRUE(run(book, 199, 1, 1));
  EXPECT_TRUE(book.is_off({0}));
  EXPECT_FALSE(run(book, 200, 100, 1));  // reported already
  EXPECT_FALSE(run(book, 300, 360, 4));
  EXPECT_FALSE(book.is_off({0}));
  EXPECT_EQ(book.recent({0}).judged, 360);
  EXPECT_TRUE(run(book, 660, 360, 1));
}

TEST(ForecastBook, IsSavedWithoutItsTotals) {
  ForecastBook book;
  static_cast<void>(run(book, 0, 250, 4));
  book.keep({0}, 250 * 60, kTenToTwenty);
  ArchiveWriter writer;
  writer(book);
  ArchiveReader reader(writer.bytes());
  ForecastBook again;
  reader(again);
  ASSERT_TRUE(reader.is_at_end());
  EXPECT_FALSE(again.note(arrived(250 * 60, 15)));
  EXPECT_EQ(again.recent({0}).judged, 251);
  EXPECT_EQ(again.recent({0}).inside_80, book.recent({0}).inside_80 + 1);
  EXPECT_EQ(again.totals({0}).judged, 1);
}

TEST(ForecastBook, ForgetsAService) {
  ForecastBook book;
  static_cast<void>(run(book, 0, 10, 4));
  book.forget({0});
  EXPECT_EQ(book.recent({0}).judged, 0);
}

}  // namespace
}  // namespace berth::live
