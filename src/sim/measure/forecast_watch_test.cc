#include "sim/measure/forecast_watch.h"

#include <gtest/gtest.h>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

constexpr ServiceId kService{0};

/// One service that runs for `seconds`.
Scenario lasting(std::int64_t seconds) {
  return testing::scenario_of({testing::service_of("a", {{}}, testing::requests_at({}, seconds))}, {});
}

/// Arrivals of second t: t.
std::int64_t rising(ServiceId, std::int64_t second) { return second; }

/// Notes a plan that expects `median` in each of `seconds` seconds, with a band from half to twice the median.
void note_flat(ForecastWatch& watch, std::int64_t from, std::int64_t seconds, double median) {
  std::vector<double> loads;
  for (std::int64_t i = 0; i < seconds + 1; ++i) {
    for (const double factor : {0.5, 0.75, 1.0, 1.5, 2.0}) loads.push_back(factor * median);
  }
  watch.note(kService, {.from_second = from, .seconds = seconds, .tail_seconds = 1}, loads);
}

Insight finished(ForecastWatch& watch) {
  Insight insight;
  watch.finish_into(insight);
  return insight;
}

TEST(ForecastWatch, KeepsTheLatestPlanOfEachSecond) {
  const Scenario scenario = lasting(10);
  ForecastWatch watch(scenario, 5, rising);
  note_flat(watch, 2, 8, 4);
  note_flat(watch, 6, 4, 100);
  const Insight insight = finished(watch);
  ASSERT_EQ(insight.forecasts.size(), 1U);
  EXPECT_EQ(insight.forecasts[0].lead_seconds, 0);
  EXPECT_DOUBLE_EQ(insight.band_share, 0.8);
  const ServiceForecast& forecast = insight.forecasts[0].services[0];
  using Values = std::vector<std::optional<double>>;
  EXPECT_EQ(forecast.median, (Values{std::nullopt, std::nullopt, 4, 4, 4, 4, 100, 100, 100, 100}));
  EXPECT_EQ(forecast.low[3], 2);
  EXPECT_EQ(forecast.high[6], 200);
  EXPECT_EQ(forecast.judged_seconds, 8);
  EXPECT_DOUBLE_EQ(*forecast.inside_share, 0.5);  // 2 to 5 in [2, 8], 6 to 9 below 50
  EXPECT_DOUBLE_EQ(*forecast.wape, (2 + 1 + 0 + 1 + 94 + 93 + 92 + 91) / 44.0);
}

TEST(ForecastWatch, AtALeadReportsOnlyPlansThatBeganSoLongBefore) {
  const Scenario scenario = lasting(200);
  ForecastWatch watch(scenario, 5, rising);
  note_flat(watch, 0, 100, 10);
  note_flat(watch, 30, 100, 20);
  const Insight insight = finished(watch);
  ASSERT_EQ(insight.forecasts.size(), 2U);
  const ServiceForecast& ahead = insight.forecasts[1].services[0];
  EXPECT_EQ(insight.forecasts[1].lead_seconds, 60);
  EXPECT_FALSE(ahead.median[59]);
  EXPECT_EQ(ahead.median[60], 10);
  EXPECT_EQ(ahead.median[89], 10);
  EXPECT_EQ(ahead.median[90], 20);
  EXPECT_EQ(ahead.median[129], 20);
  EXPECT_FALSE(ahead.median[130]);
  EXPECT_EQ(ahead.judged_seconds, 70);
  EXPECT_EQ(insight.forecasts[0].services[0].judged_seconds, 130);
}

TEST(ForecastWatch, ABinIsAbsentUnlessAllOfItWasForecast) {
  const Scenario scenario = lasting(2'999);  // 600 bins of 5 s, the last of 4 s
  ForecastWatch watch(scenario, 5, rising);
  note_flat(watch, 3, 9, 10);
  note_flat(watch, 2'995, 4, 40);
  const ServiceForecast forecast = finished(watch).forecasts[0].services[0];
  ASSERT_EQ(forecast.median.size(), 600U);
  EXPECT_FALSE(forecast.median[0]);
  EXPECT_EQ(forecast.median[1], 10);
  EXPECT_FALSE(forecast.median[2]);
  EXPECT_EQ(forecast.median[599], 40);
}

TEST(ForecastWatch, StaysSmallWhateverComes) {
  Scenario scenario = lasting(604'800);
  scenario.services.resize(kForecastServicesMax + 5, scenario.services.front());
  ForecastWatch watch(scenario, 5, rising);
  const std::vector<double> loads(10, 3.0);
  for (std::uint32_t service = 0; service < scenario.services.size(); ++service) {
    watch.note({service}, {.from_second = 0, .seconds = 1, .tail_seconds = 1}, loads);
  }
  const Insight insight = finished(watch);
  ASSERT_EQ(insight.forecasts.size(), 1U);
  EXPECT_EQ(insight.forecasts[0].services.size(), kForecastServicesMax);
  EXPECT_LE(insight.forecasts[0].services[0].low.size(), static_cast<std::size_t>(kTimelineBinsMax));
}

}  // namespace
}  // namespace berth::measure
