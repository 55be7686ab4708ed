#include "live/session/series_points.h"

#include <gtest/gtest.h>

#include <memory>

#include "domain/ports/testing/memory_series.h"

namespace berth::live {
namespace {

constexpr std::uint64_t kService = 7;

/// A second with one request, answered in time after 10 ms; two in the first second of a minute.
SeriesSpan second_at(std::int64_t second) {
  const std::int64_t count = second % 60 == 0 ? 2 : 1;
  SeriesSpan span{.second = second,
                  .fleet = FleetFigures{.covered_us = 1'000'000, .available_us = 2e6, .busy_us = 1e6}};
  for (const std::uint64_t service : {kAllServices, kService}) {
    span.services.push_back({.service = service,
                             .requests = count,
                             .in_time = count,
                             .queued_max = second,
                             .latencies = {{.bucket = latency_bucket_of(10'000), .count = count}},
                             .settled = {{.second = second, .in_time = count}}});
  }
  return span;
}

class SeriesPoints : public ::testing::Test {
 protected:
  /// Seconds from 0 on, of which those from `kept_from` are kept.
  void fill(std::int64_t to, std::int64_t kept_from = 0) {
    SeriesBatch batch;
    SeriesMinutes minutes;
    for (std::int64_t second = 0; second < to; ++second) {
      if (second >= kept_from) batch.seconds.push_back(second_at(second));
      if (auto minute = minutes.add(second_at(second))) batch.minutes.push_back(std::move(*minute));
    }
    ASSERT_TRUE(store_.writer->append(batch));
  }
  std::vector<SeriesPoint> points(const AskedPoints& asked, std::size_t count_max = 1000) {
    return read_points(*store_.reader, asked, count_max).value();
  }
  static std::int64_t requests_of(const std::vector<SeriesPoint>& points) {
    std::int64_t sum = 0;
    for (const SeriesPoint& each : points) sum += each.figures ? each.figures->requests : 0;
    return sum;
  }

  SeriesStore store_ = berth::testing::open_memory_series(std::make_shared<berth::testing::MemorySeries>());
};

TEST_F(SeriesPoints, StepsArePartsOfAMinuteOrMinutes) {
  for (const std::int64_t step : {1, 2, 15, 30, 60, 120, 3600, 86'400}) EXPECT_TRUE(is_series_step(step)) << step;
  for (const std::int64_t step : {-1, 0, 7, 45, 61, 90, 86'460}) EXPECT_FALSE(is_series_step(step)) << step;
}

TEST_F(SeriesPoints, AnEmptyStoreHasNone) { EXPECT_TRUE(points({.from = 0, .to = INT64_MAX / 2}).empty()); }

TEST_F(SeriesPoints, EachSecondCountsOnceWhateverTheStep) {
  fill(200);
  for (const std::int64_t step : {1, 5, 30, 60, 120, 3600}) {
    const std::vector<SeriesPoint> all = points({.service = kService, .from = 0, .to = 200, .step = step});
    EXPECT_EQ(std::ssize(all), (200 + step - 1) / step) << step;
    EXPECT_EQ(requests_of(all), 204) << step;
    std::int64_t seconds = 0;
    for (const SeriesPoint& each : all) {
      EXPECT_EQ(each.from % step, 0);
      EXPECT_EQ(each.to, each.from + step);
      seconds += each.figures->seconds;
    }
    EXPECT_EQ(seconds, 200) << step;
    EXPECT_EQ(all.back().figures->queued_max, 199);
    EXPECT_EQ(all.front().fleet, std::nullopt);
  }
}

TEST_F(SeriesPoints, ThoseOfAllServicesHaveTheFleet) {
  fill(130);
  const std::vector<SeriesPoint> all = points({.from = 0, .to = 130, .step = 120});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].fleet->covered_us, 120'000'000);
  EXPECT_EQ(all[1].fleet->covered_us, 10'000'000);
  EXPECT_EQ(all[1].figures->requests, 11);
}

TEST_F(SeriesPoints, OlderThanTheSecondsAreMinutes) {
  fill(300, 130);
  const std::vector<SeriesPoint> all = points({.service = kService, .from = 70, .to = 200, .step = 10});
  ASSERT_EQ(all.size(), 2U + 2U);  // the minutes 60 and 120, then 180 and 190
  EXPECT_EQ(all[0].from, 60);
  EXPECT_EQ(all[1].to, 180);
  EXPECT_EQ(all[1].figures->seconds, 60);
  EXPECT_EQ(all[2].from, 180);
  EXPECT_EQ(all[2].to, 190);
  EXPECT_NEAR(percentile_us(all[0].figures->latencies, 50).value(), 10'000, 360);
}

TEST_F(SeriesPoints, ASpanIsThatOfItsSteps) {
  fill(300);
  const std::vector<SeriesPoint> some = points({.service = kService, .from = 65, .to = 121, .step = 10});
  ASSERT_EQ(some.size(), 7U);
  EXPECT_EQ(some.front().from, 60);
  EXPECT_EQ(some.back().to, 130);
  EXPECT_EQ(points({.service = kService, .from = 65, .to = 121, .step = 60}).size(), 2U);
  EXPECT_TRUE(points({.service = kService, .from = 300, .to = 400}).empty());
}

TEST_F(SeriesPoints, TheFirstStepIsWholeWhereverInItOneAsks) {
  fill(1235);
  for (const std::int64_t from : {0, 1199, 1200, 1210, 1234}) {
    const std::vector<SeriesPoint> all = points({.service = kService, .from = from, .to = 1235, .step = 3600});
    ASSERT_EQ(all.size(), 1U) << from;
    EXPECT_EQ(all[0].figures->seconds, 1235) << from;
  }
}

TEST_F(SeriesPoints, PagesGoOnWhereTheLastOneEnded) {
  fill(200, 130);
  const std::vector<SeriesPoint> all = points({.service = kService, .from = 0, .to = 200, .step = 10});
  std::vector<SeriesPoint> in_pages;
  std::int64_t from = 0;
  while (true) {
    const std::vector<SeriesPoint> page = points({.service = kService, .from = from, .to = 200, .step = 10}, 2);
    if (page.empty()) break;
    in_pages.insert(in_pages.end(), page.begin(), page.end());
    from = page.back().to;
  }
  EXPECT_EQ(in_pages, all);
}

}  // namespace
}  // namespace berth::live
