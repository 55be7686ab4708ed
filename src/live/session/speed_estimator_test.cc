#include "live/session/speed_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/core/rng.h"

namespace berth::live {
namespace {

const SpeedPlace kPlace{.service = {0}, .gpu = "A100-80GB", .profile = "1g.10gb"};
const SpeedPlace kOther{.service = {0}, .gpu = "A100-80GB", .profile = "2g.20gb"};

/// Batches of 10 ms by the table, `per_second` of them, which take `factor` x a draw from 1 +- jitter.
class DrawnBatches {
 public:
  DrawnBatches(double per_second, double jitter, std::uint64_t seed)
      : per_second_(per_second), jitter_(jitter), rng_(seed) {}

  [[nodiscard]] sim::BatchTimes second(const SpeedPlace& place, std::int64_t second, double factor) {
    constexpr std::int64_t kTableUs = 10'000;
    sim::BatchTimes times{.place = place, .second = second};
    for (std::int64_t batches = rng_.poisson(per_second_); batches > 0; --batches) {
      ++times.batches;
      times.table_us += kTableUs;
      times.real_us += std::llround(kTableUs * factor * (1 + jitter_ * (2 * rng_.unit() - 1)));
    }
    return times;
  }

 private:
  double per_second_;
  double jitter_;
  Rng rng_;
};

/// Runs an estimator, and records what it finds.
struct Course {
  SpeedEstimator estimator;
  SpeedFactors known;
  std::vector<Event> recorded;
  bool is_used = true;

  void look(std::int64_t second) {
    const Instant now = Instant::at_second(second + 1);
    for (const SpeedMeasured& measured : estimator.find_news(known, now, is_used)) {
      note_speed(known, measured, now);
      recorded.push_back({.at = now, .what = measured});
    }
  }
  /// Seconds [from, until) at one factor.
  void run(DrawnBatches& batches, std::int64_t from, std::int64_t until, double factor) {
    for (std::int64_t second = from; second < until; ++second) {
      estimator.add(batches.second(kPlace, second, factor));
      look(second);
    }
  }
};

TEST(SpeedEstimator, FindsAFactorWithinTenMinutesAndThreePercent) {
  for (const double per_second : {1.0, 3.0, 30.0, 300.0}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      DrawnBatches batches(per_second, 0.2, seed);
      Course course;
      course.run(batches, 0, 600, 1);
      ASSERT_TRUE(course.recorded.empty());
      course.run(batches, 600, 1800, 1.3);
      ASSERT_FALSE(course.recorded.empty()) << per_second;
      EXPECT_LE(course.recorded.front().at, Instant::at_second(1200)) << per_second << " per second, seed " << seed;
      EXPECT_NEAR(course.known.at(kPlace).factor.to_double(), 1.3, 0.039) << per_second << " per second, seed " << seed;
    }
  }
}

TEST(SpeedEstimator, FindsThatAFactorIsOver) {
  DrawnBatches batches(20, 0.2, 7);
  Course course;
  course.run(batches, 0, 700, 1.3);
  course.run(batches, 700, 1500, 1);
  ASSERT_EQ(course.recorded.size(), 2U);
  EXPECT_NEAR(course.known.at(kPlace).factor.to_double(), 1, 0.03);
}

TEST(SpeedEstimator, NoiseAloneIsNoDrift) {
  for (const double per_second : {0.5, 5.0, 50.0}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      DrawnBatches batches(per_second, 0.3, seed);
      Course course;
      course.run(batches, 0, 21'600, 1);
      EXPECT_TRUE(course.recorded.empty()) << per_second << " per second, seed " << seed;
    }
  }
}

TEST(SpeedEstimator, RecordsAtMostSixAnHour) {
  DrawnBatches batches(50, 0.2, 3);
  Course course;
  for (std::int64_t begin = 0; begin < 7'200; begin += 240) {  // faster than it may follow
    course.run(batches, begin, begin + 240, begin % 480 == 0 ? 2 : 1);
  }
  EXPECT_GT(course.recorded.size(), 2U);
  for (std::size_t index = 6; index < course.recorded.size(); ++index) {
    EXPECT_GE(course.recorded[index].at - course.recorded[index - 6].at, Micros::seconds(3'600));
  }
}

TEST(SpeedEstimator, AFactorEndsWithoutBatches) {
  DrawnBatches batches(20, 0, 1);
  Course course;
  course.run(batches, 0, 100, 1.5);
  ASSERT_EQ(course.known.size(), 1U);
  for (std::int64_t second = 100; second < 100 + 1'800; ++second) course.look(second);
  EXPECT_TRUE(course.known.empty());
  ASSERT_EQ(course.recorded.size(), 2U);
  EXPECT_EQ(course.recorded.back().at, Instant::at_second(1'900));
  EXPECT_FALSE(std::get<SpeedMeasured>(course.recorded.back().what).factor.has_value());
}

TEST(SpeedEstimator, APlaceWithoutAFactorIsComparedWithTheOthers) {
  DrawnBatches batches(20, 0, 1);
  Course course;
  course.known[kOther] = {.factor = Decimal(13, 10), .batches = 500, .at = {}};
  for (std::int64_t second = 0; second < 200; ++second) {
    course.estimator.add(batches.second(kOther, second, 1.3));
    course.estimator.add(batches.second(kPlace, second, 1.3));
    course.look(second);
  }
  EXPECT_TRUE(course.recorded.empty());
  for (std::int64_t second = 200; second < 400; ++second) {
    course.estimator.add(batches.second(kOther, second, 1.3));
    course.estimator.add(batches.second(kPlace, second, 1));
    course.look(second);
  }
  ASSERT_EQ(course.recorded.size(), 1U);
  EXPECT_EQ(course.known.at(kPlace).factor, Decimal(1));
}

TEST(SpeedEstimator, WhatIsOnlyReportedIsReportedOnce) {
  DrawnBatches batches(20, 0.2, 1);
  Course course;
  course.is_used = false;
  course.run(batches, 0, 3'600, 1.3);
  ASSERT_EQ(course.recorded.size(), 1U);
  EXPECT_FALSE(course.known.at(kPlace).is_used);
  EXPECT_EQ(speed_in_force(course.known, kPlace), Decimal(1));
}

TEST(SpeedEstimator, ForgetsAService) {
  DrawnBatches batches(20, 0, 1);
  Course course;
  for (std::int64_t second = 0; second < 59; ++second) course.estimator.add(batches.second(kPlace, second, 2));
  course.estimator.forget({0});
  EXPECT_FALSE(course.estimator.estimate_of(kPlace).has_value());
  course.run(batches, 59, 100, 2);
  EXPECT_TRUE(course.recorded.empty());
}

}  // namespace
}  // namespace berth::live
