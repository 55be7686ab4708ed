#include "domain/forecast/forecaster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "base/core/archive.h"
#include "base/core/rng.h"

namespace berth::forecast {
namespace {

using Rate = std::function<double(std::int64_t second)>;

/// Counts drawn around a rate for the seconds 0 to `seconds` - 1.
std::vector<std::int64_t> drawn_counts(std::int64_t seconds, const Rate& rate) {
  Rng rng(7);
  std::vector<std::int64_t> counts;
  counts.reserve(static_cast<std::size_t>(seconds));
  for (std::int64_t second = 0; second < seconds; ++second) counts.push_back(rng.poisson(rate(second)));
  return counts;
}

Forecaster taught(Model model, const std::vector<std::int64_t>& counts) {
  Forecaster forecaster(model);
  for (std::size_t second = 0; second < counts.size(); ++second) {
    forecaster.observe(static_cast<std::int64_t>(second), counts[second]);
  }
  return forecaster;
}

TEST(Forecaster, NamesItsModels) {
  EXPECT_EQ(name_of(Model::kNaive), "naive");
  EXPECT_EQ(name_of(Model::kSeasonalNaive), "seasonal-naive");
  EXPECT_EQ(name_of(Model::kSmoothing), "smoothing");
  EXPECT_EQ(name_of(Model::kBursty), "bursty");
  EXPECT_EQ(name_of(Model::kCombination), "combination");
}

TEST(Forecaster, WithoutHistoryItGivesAWidePrior) {
  for (const Model model : kModels) {
    const std::vector<Quantiles> forecast = Forecaster(model).predict(-5, 3);
    ASSERT_EQ(forecast.size(), 3U);
    EXPECT_EQ(forecast[0].front(), 0);
    EXPECT_GE(forecast[0].back(), 40);
    EXPECT_EQ(forecast[0], forecast[2]);
  }
  EXPECT_DOUBLE_EQ(Forecaster().means(0, 1).at(0), 10);
  EXPECT_TRUE(Forecaster().predict(0, 0).empty());
}

TEST(Forecaster, ABurstOfThousandsLeavesNoForecastFarAboveIt) {
  constexpr double kBurst = 3500;
  const auto rate = [](std::int64_t second) { return second % 900 < 200 ? kBurst : 800.0; };
  Forecaster forecaster;
  const std::vector<std::int64_t> counts = drawn_counts(2700, rate);
  for (std::size_t second = 0; second < counts.size(); ++second) {
    forecaster.observe(static_cast<std::int64_t>(second), counts[second]);
    if (second < 100 || second % 10 != 0) continue;
    for (const Quantiles& quantiles : forecaster.predict(static_cast<std::int64_t>(second) + 1, 200)) {
      ASSERT_LT(quantiles[kMedianIndex + 4], 3 * kBurst) << "after second " << second;
    }
  }
}

TEST(Forecaster, AServiceThatHasJustStartedIsForecastWidely) {
  Forecaster forecaster;
  for (std::int64_t second = 100; second < 105; ++second) forecaster.observe(second, 20);
  for (const Quantiles& quantiles : forecaster.predict(105, 200)) {
    EXPECT_LT(quantiles.front(), 15);
    EXPECT_GT(quantiles.back(), 25);
  }
}

TEST(Forecaster, FindsTheLawOfASteadyService) {
  for (const double rate : {0.5, 6.0, 300.0}) {
    const Forecaster forecaster = taught(Model::kCombination, drawn_counts(20'000, [&](std::int64_t) { return rate; }));
    const double deviation = std::sqrt(rate);
    for (const std::int64_t lead : {0, 30, 199}) {
      const Quantiles quantiles = forecaster.predict(20'000 + lead, 1).at(0);
      EXPECT_NEAR(quantiles[kMedianIndex], rate, 0.35 * deviation + 0.6);
      EXPECT_NEAR(quantiles[9], rate + 1.28 * deviation, 0.4 * deviation + 1);
      EXPECT_NEAR(quantiles[1], std::max(0.0, rate - 1.28 * deviation), 0.4 * deviation + 1);
      EXPECT_NEAR(forecaster.means(20'000 + lead, 1).at(0), rate, 0.35 * deviation);
    }
  }
}

TEST(Forecaster, SilenceAndConstantCountsBecomeCertain) {
  for (const std::int64_t count : {0, 1, 5, 100}) {
    const Forecaster forecaster = taught(Model::kCombination, std::vector<std::int64_t>(5'000, count));
    for (const Quantiles& quantiles : forecaster.predict(5'000, 200)) {
      EXPECT_EQ(quantiles[1], static_cast<double>(count));
      EXPECT_EQ(quantiles[9], static_cast<double>(count));
    }
  }
}

TEST(Forecaster, LearnsASpikeOfEveryMinute) {
  const auto rate = [](std::int64_t second) { return second % 60 == 17 ? 60.0 : 4.0; };
  const Forecaster forecaster = taught(Model::kCombination, drawn_counts(7'200, rate));
  const std::vector<Quantiles> forecast = forecaster.predict(7'200, 60);
  for (std::size_t i = 0; i < forecast.size(); ++i) {
    if (i == 17) {
      EXPECT_GT(forecast[i][kMedianIndex], 30);
    } else {
      EXPECT_LT(forecast[i][kMedianIndex], 12);
    }
  }
}

TEST(Forecaster, LearnsTheDayFromTheDaysBefore) {
  const auto rate = [](std::int64_t second) { return second % 86'400 / 3'600 == 12 ? 80.0 : 10.0; };
  // Three days and the morning of the fourth; the forecast reaches 100 s into the busy hour.
  const std::int64_t now = (3 * 24 + 12) * 3'600 - 100;
  const std::vector<Quantiles> forecast = taught(Model::kCombination, drawn_counts(now, rate)).predict(now, 200);
  EXPECT_LT(forecast[50][kMedianIndex], 20);
  EXPECT_GT(forecast[190][9], 60);
}

TEST(Forecaster, ABurstFades) {
  // 60 s of every 600 s are busy, at no regular time.
  Rng rng(3);
  std::vector<std::int64_t> counts;
  std::int64_t busy_until = 0;
  for (std::int64_t second = 0; second < 40'000; ++second) {
    if (second >= busy_until && rng.below(540) == 0) busy_until = second + 60;
    counts.push_back(rng.poisson(second < busy_until ? 90 : 10));
  }
  Forecaster forecaster = taught(Model::kBursty, counts);
  for (std::int64_t second = 40'000; second < 40'020; ++second) forecaster.observe(second, 90);
  const std::vector<double> means = forecaster.means(40'020, 200);
  EXPECT_GT(means[0], 60);
  EXPECT_LT(means[199], 35);
}

TEST(Forecaster, WhatComesLaterChangesNoEarlierForecast) {
  const std::vector<std::int64_t> counts =
      drawn_counts(3'000, [](std::int64_t second) { return second % 700 < 100 ? 40.0 : 5.0; });
  std::vector<std::int64_t> other = counts;
  for (std::size_t second = 2'000; second < other.size(); ++second) other[second] = 1'000;
  for (const Model model : kModels) {
    Forecaster first(model);
    Forecaster second(model);
    for (std::int64_t now = 0; now < 3'000; ++now) {
      const auto index = static_cast<std::size_t>(now);
      if (now <= 2'000 && now % 250 == 0) {
        EXPECT_EQ(first.predict(now, 100), second.predict(now, 100));
      }
      first.observe(now, counts[index]);
      second.observe(now, other[index]);
    }
    EXPECT_NE(first.predict(3'000, 100), second.predict(3'000, 100));
  }
}

TEST(Forecaster, ACopyGoesItsOwnWay) {
  const Forecaster taught_once = taught(Model::kCombination, drawn_counts(1'000, [](std::int64_t) { return 9.0; }));
  Forecaster copy = taught_once;
  const std::vector<Quantiles> before = taught_once.predict(1'500, 50);
  EXPECT_EQ(copy.predict(1'500, 50), before);
  for (std::int64_t second = 1'000; second < 1'400; ++second) copy.observe(second, 500);
  EXPECT_EQ(taught_once.predict(1'500, 50), before);
  EXPECT_NE(copy.predict(1'500, 50), before);
}

TEST(Forecaster, MissingSecondsAreUnknownNotZero) {
  Rng rng(11);
  Forecaster forecaster;
  for (std::int64_t second = 0; second < 20'000; ++second) {
    const std::int64_t count = rng.poisson(30);
    // Every third second is missing, and an hour in the middle.
    if (second % 3 != 0 && (second < 9'000 || second >= 12'600)) forecaster.observe(second, count);
  }
  for (const Quantiles& quantiles : forecaster.predict(20'000, 100)) EXPECT_NEAR(quantiles[kMedianIndex], 30, 4);
  // Long after the last observation the forecast still fits the service.
  EXPECT_NEAR(forecaster.predict(100'000, 1).at(0)[kMedianIndex], 30, 12);
}

TEST(Forecaster, TenTimesTheLoadIsForecastTenTimesAsHigh) {
  const auto burst = [](std::int64_t second) { return second % 900 < 120 ? 3.0 : 0.6; };
  const Forecaster small =
      taught(Model::kCombination, drawn_counts(15'000, [&](std::int64_t s) { return 50 * burst(s); }));
  const Forecaster large =
      taught(Model::kCombination, drawn_counts(15'000, [&](std::int64_t s) { return 500 * burst(s); }));
  const std::vector<double> small_means = small.means(15'000, 200);
  const std::vector<double> large_means = large.means(15'000, 200);
  for (std::size_t i = 0; i < small_means.size(); ++i) EXPECT_NEAR(large_means[i] / small_means[i], 10, 2.5) << i;
}

TEST(ForecasterDeathTest, TimeDoesNotRunBackwards) {
  Forecaster forecaster;
  forecaster.observe(5, 1);
  EXPECT_DEATH(forecaster.observe(5, 1), "last_second");
  EXPECT_DEATH((void)forecaster.predict(5, 1), "last_second");
}

TEST(Forecaster, DamagedBytesGiveNothingOrAForecaster) {
  const auto rate = [](std::int64_t second) { return second % 60 < 20 ? 40.0 : 5.0; };
  const std::string whole = bytes_of(taught(Model::kCombination, drawn_counts(400, rate)));
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(from_bytes<Forecaster>(whole.substr(0, rng.below(whole.size()))).has_value());
    std::string damaged = whole;
    char& byte = damaged[rng.below(damaged.size())];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << rng.below(8)));
    static_cast<void>(from_bytes<Forecaster>(damaged));
  }
}

TEST(Forecaster, ItsBytesAreFewerThanItsMemory) {
  constexpr std::size_t kKibibyte = 1024;
  const auto rate = [](std::int64_t second) { return 50 + 40 * std::sin(static_cast<double>(second) / 700); };
  EXPECT_LT(bytes_of(Forecaster()).size(), 32 * kKibibyte);
  EXPECT_LT(bytes_of(taught(Model::kCombination, drawn_counts(3'600, rate))).size(), 160 * kKibibyte);
}

}  // namespace
}  // namespace berth::forecast
