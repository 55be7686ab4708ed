#include "domain/forecast/backtest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

#include "base/core/rng.h"

namespace berth::forecast {
namespace {

using Counts = std::vector<std::uint32_t>;

bool always(Model, double) { return true; }

BacktestResult tested(const Counts& counts, const BacktestPlan& plan) {
  const std::optional<BacktestResult> result = backtest(counts, plan, always);
  EXPECT_TRUE(result.has_value());
  return result.value_or(BacktestResult{});
}

double best_single_pinball(const BacktestResult& result) {
  double best = result.models.front().pinball;
  for (std::size_t i = 1; i + 1 < result.models.size(); ++i) best = std::min(best, result.models[i].pinball);
  return best;
}

/// The bar: at most 2 % worse than the best single model in hindsight, and calibrated.
void expect_bar(const BacktestResult& result, const std::string& what) {
  const ModelScore& combined = result.models.back();
  EXPECT_LE(combined.pinball, 1.02 * best_single_pinball(result)) << what;
  EXPECT_GE(combined.coverage_80, 0.75) << what;
  EXPECT_LE(combined.coverage_80, 0.85) << what;
}

TEST(Backtest, CountsOriginsForecastsAndThePicture) {
  const Counts counts(500, 3);
  const BacktestResult result = tested(counts, {.from_second = 100, .seconds = 230, .horizon = 100, .every = 50});
  EXPECT_EQ(result.origins, 5);                                 // 100, 150, 200, 250, 300
  EXPECT_EQ(result.judged_seconds, 100 + 100 + 100 + 80 + 30);  // those of the last two end with the window
  ASSERT_EQ(result.models.size(), kModels.size());
  for (std::size_t i = 0; i < kModels.size(); ++i) EXPECT_EQ(result.models[i].model, kModels[i]);
  ASSERT_EQ(result.picture.size(), 230U);
  for (std::size_t i = 0; i < result.picture.size(); ++i) {
    EXPECT_EQ(result.picture[i].second, 100 + static_cast<std::int64_t>(i));
    EXPECT_EQ(result.picture[i].lead, static_cast<std::int64_t>(i) % 50 + 1);
    EXPECT_EQ(result.picture[i].arrived, 3U);
  }
}

TEST(Backtest, JudgesThePriorByHand) {
  // At an origin at second 0 nothing is known: every model gives the prior.
  const Counts counts = {4, 0};
  const Quantiles prior = Forecaster().predict(0, 1).at(0);
  double pinball = 0;
  for (const double count : {4.0, 0.0}) {
    for (std::size_t i = 0; i < prior.size(); ++i) {
      const double error = count - prior[i];
      pinball += std::max(kLevels[i] * error, (kLevels[i] - 1) * error) / (2 * 11);
    }
  }
  for (const ModelScore& score : tested(counts, {.from_second = 0, .seconds = 2, .horizon = 5, .every = 5}).models) {
    EXPECT_NEAR(score.pinball, pinball, 1e-12);
    EXPECT_NEAR(score.wape.value_or(-1), (std::abs(4 - prior[kMedianIndex]) + std::abs(prior[kMedianIndex])) / 4,
                1e-12);
  }
}

TEST(Backtest, NothingArrived) {
  const BacktestResult result = tested(Counts(4'000, 0), {.from_second = 1'000, .seconds = 3'000});
  for (const ModelScore& score : result.models) {
    EXPECT_EQ(score.wape, std::nullopt);
    EXPECT_EQ(score.pinball, 0);
    EXPECT_NEAR(score.coverage_80, 0.8, 0.02);  // every count is 0, and 80 % of it lies in the band
    EXPECT_NEAR(score.coverage_95, 0.95, 0.02);
  }
}

TEST(Backtest, StopsWhenAskedTo) {
  int calls = 0;
  const auto result = backtest(Counts(50'000, 1), {.from_second = 0, .seconds = 50'000}, [&](Model, double done) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
    return ++calls < 3;
  });
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(calls, 3);
}

TEST(Backtest, SteadyLoadsAreCalibratedAtEveryRate) {
  for (const double rate : {0.02, 0.7, 5.0, 60.0, 2'000.0}) {
    Rng rng(21);
    Counts counts(16'000);
    for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(rng.poisson(rate));
    const BacktestResult result = tested(counts, {.from_second = 4'000, .seconds = 12'000});
    expect_bar(result, std::to_string(rate));
    EXPECT_NEAR(result.models.back().coverage_95, 0.95, 0.03) << rate;
  }
}

TEST(Backtest, HoldsTheBarOnShapesOfLoad) {
  using Shape = double (*)(double);
  const Shape shapes[] = {
      [](double second) { return 20 * (1 - 0.8 * std::cos(2 * std::numbers::pi * second / 20'000)); },  // a wave
      [](double second) { return std::fmod(second, 300) < 1 ? 80.0 : 4.0; },                            // a job
      [](double second) { return 1 + second / 100; },                                                   // growth
  };
  for (const Shape shape : shapes) {
    Rng rng(4);
    Counts counts(20'000);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = static_cast<std::uint32_t>(rng.poisson(shape(static_cast<double>(i))));
    }
    expect_bar(tested(counts, {.from_second = 3'600, .seconds = 16'400}),
               "shape " + std::to_string(&shape - &shapes[0]));
  }
}

/// Lines of a file or a pipe, each a count.
Counts counts_of_lines(std::FILE* file, std::size_t count_max) {
  Counts counts;
  std::array<char, 64> line{};
  while (counts.size() < count_max && std::fgets(line.data(), line.size(), file) != nullptr) {
    std::uint32_t count = 0;
    const std::string_view text(line.data());
    std::from_chars(text.data(), text.data() + text.size(), count);
    counts.push_back(count);
  }
  return counts;
}

TEST(Backtest, HoldsTheBarOnTheTwitterTrace) {
  const char* folder = std::getenv("BERTH_DATA");
  if (folder == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
  const std::string command =
      "gzip -dc '" + std::string(folder) + "/twitter/requests_per_second_14days.txt.gz' 2>/dev/null";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  const Counts counts = counts_of_lines(pipe, 4 * 86'400);
  ::pclose(pipe);
  if (counts.empty()) GTEST_SKIP() << "no Twitter trace in " << folder;
  expect_bar(tested(counts, {.from_second = 86'400, .seconds = 3 * 86'400}), "days 2 to 4");
  expect_bar(tested(counts, {.from_second = 0, .seconds = 86'400}), "day 1, from nothing");
}

}  // namespace
}  // namespace berth::forecast
