#include "domain/trace/detail/recorded_sums.h"

#include <gtest/gtest.h>

namespace berth::detail {
namespace {

/// Three traces with the same requests in each second: two in every even one, as far as their format allows.
struct Sample {
  Arrivals arrivals;
  std::vector<std::int64_t> parts;  ///< of each second
};

std::vector<Sample> samples() {
  CountTrace counts;
  TimedTrace timed{.requests = {}, .seconds = 300};
  Sample by_second;
  Sample by_minute{.arrivals = {.source = MinuteTrace{{7, 0, 60, 1, 2}}}, .parts = {}};
  for (std::int64_t second = 0; second < 300; ++second) {
    const std::int64_t count = second * 7 % 5;
    counts.counts.push_back(static_cast<std::uint32_t>(count));
    for (std::int64_t i = 0; i < count; ++i) timed.requests.push_back({.at_us = second * 1'000'000 + i * 250'000});
    by_second.parts.push_back(count);
    by_minute.parts.push_back(
        std::get<MinuteTrace>(by_minute.arrivals.source).counts[static_cast<std::size_t>(second / 60)]);
  }
  by_second.arrivals.source = counts;
  Sample by_time = by_second;
  by_time.arrivals.source = timed;
  return {by_second, by_minute, by_time};
}

TEST(RecordedSums, AreTheSumsOfSeconds) {
  for (const Sample& sample : samples()) {
    const RecordedSums sums(sample.arrivals);
    ASSERT_EQ(sums.seconds(), 300);
    std::int64_t sum = 0;
    for (std::int64_t second = 0; second <= 300; ++second) {
      EXPECT_EQ(sums.before(second), sum) << second;
      if (second == 300) break;
      EXPECT_LE(sample.parts[static_cast<std::size_t>(second)], sums.second_parts_max());
      sum += sample.parts[static_cast<std::size_t>(second)];
    }
  }
}

TEST(SmoothedWindow, IsCentredAndCutAtTheEnds) {
  const Arrivals arrivals{.source = CountTrace{{1, 2, 4, 8, 16, 32}}};
  const RecordedSums sums(arrivals);
  struct Case {
    std::int64_t second = 0;
    std::int64_t smooth_seconds = 0;
    std::int64_t parts = 0;
    std::int64_t seconds = 0;
  };
  for (const Case& wanted :
       {Case{2, 1, 4, 1}, Case{2, 2, 2 + 4, 2}, Case{2, 3, 2 + 4 + 8, 3}, Case{2, 4, 1 + 2 + 4 + 8, 4},
        Case{0, 3, 1 + 2, 2}, Case{0, 4, 1 + 2, 2}, Case{5, 3, 16 + 32, 2}, Case{5, 4, 8 + 16 + 32, 3},
        Case{3, 100, 63, 6}, Case{3, INT64_MAX, 63, 6}}) {
    const SmoothedWindow window = smoothed_window(sums, wanted.second, wanted.smooth_seconds);
    EXPECT_EQ(window.parts, wanted.parts) << wanted.second << " " << wanted.smooth_seconds;
    EXPECT_EQ(window.seconds, wanted.seconds) << wanted.second << " " << wanted.smooth_seconds;
  }
}

}  // namespace
}  // namespace berth::detail
