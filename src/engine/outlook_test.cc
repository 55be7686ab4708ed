#include "engine/outlook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/test_fleet.h"

namespace berth {
namespace {

std::int64_t ramp(ServiceId service, std::int64_t second) { return second * (service.index == 0 ? 1 : 10); }

TEST(KnownOutlook, TellsEachSecondAndTheTailsMean) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = known_outlook(scenario, ramp);
  EXPECT_EQ(outlook.samples, 1);
  const Expected expected = outlook.expect({1}, {.from_second = 7, .seconds = 3, .tail_seconds = 4});
  EXPECT_EQ(expected.loads, (std::vector<double>{70, 80, 90, (100 + 110 + 120 + 130) / 4.0}));
  EXPECT_EQ(outlook.expect({0}, {.from_second = 7, .seconds = 1, .tail_seconds = 1}).loads,
            (std::vector<double>{7, 8}));
}

TEST(KnownOutlook, MeanRatesAreOverTheWholeRun) {
  Scenario scenario = testing::two_gpus();
  const OutlookSource same = known_outlook(scenario, [](ServiceId, std::int64_t) { return 30; });
  const Stretch stretch{.from_second = 0, .seconds = 1, .tail_seconds = 1};
  EXPECT_EQ(same.expect({0}, stretch).mean_rate, 30);
  // One whose requests end before the run does: fewer of them, each worth more.
  scenario.services[1].arrivals.seconds = 15;
  const OutlookSource outlook = known_outlook(
      scenario, [](ServiceId service, std::int64_t second) { return service.index == 0 || second < 15 ? 30 : 0; });
  EXPECT_EQ(outlook.expect({0}, stretch).mean_rate, 30);
  EXPECT_EQ(outlook.expect({1}, stretch).mean_rate, 7.5);
  const OutlookSource none = known_outlook(scenario, [](ServiceId, std::int64_t) { return 0; });
  EXPECT_GT(none.expect({0}, stretch).mean_rate, 0);
}

/// A snapshot that holds the latest seconds of one service, up to and without `until`.
Snapshot seen(const std::vector<std::int64_t>& arrivals, std::int64_t from, std::int64_t until,
              std::size_t service = 0) {
  Snapshot snapshot;
  snapshot.now = Instant::at_second(until);
  snapshot.services.resize(2);
  for (std::int64_t second = from; second < until; ++second) {
    ServiceSecond each;
    each.second = second;
    each.arrivals = arrivals[static_cast<std::size_t>(second)];
    snapshot.services[service].seconds.push_back(each);
  }
  return snapshot;
}

std::vector<std::int64_t> waves(std::int64_t seconds) {
  std::vector<std::int64_t> arrivals;
  arrivals.reserve(static_cast<std::size_t>(seconds));
  for (std::int64_t second = 0; second < seconds; ++second) arrivals.push_back(100 + second * 37 % 41);
  return arrivals;
}

TEST(ForecastOutlook, SamplesAreInOrderAndFillTheWindowAndTheTail) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = forecast_outlook(scenario);
  const auto arrivals = waves(200);
  outlook.observe(seen(arrivals, 0, 200));
  const Expected expected = outlook.expect({0}, {.from_second = 200, .seconds = 30, .tail_seconds = 50});
  const auto samples = static_cast<std::size_t>(outlook.samples);
  ASSERT_EQ(expected.loads.size(), 31 * samples);
  for (std::size_t second = 0; second < 31; ++second) {
    const auto first = expected.loads.begin() + static_cast<std::ptrdiff_t>(second * samples);
    EXPECT_TRUE(std::is_sorted(first, first + outlook.samples));
    EXPECT_GE(first[0], 90);
    EXPECT_LE(first[outlook.samples - 1], 150);
    EXPECT_LT(first[0], first[outlook.samples - 1]);
  }
  double mean = 0;
  for (const std::int64_t count : arrivals) mean += static_cast<double>(count) / 200;
  EXPECT_NEAR(expected.mean_rate, mean, 0.05 * mean);
}

TEST(ForecastOutlook, ASecondIsLearnedOnceHoweverOftenItIsSeen) {
  const Scenario scenario = testing::two_gpus();
  const auto arrivals = waves(120);
  const OutlookSource whole = forecast_outlook(scenario);
  const OutlookSource piecewise = forecast_outlook(scenario);
  for (std::int64_t until = 1; until <= 120; ++until) {
    whole.observe(seen(arrivals, 0, until));
    piecewise.observe(seen(arrivals, until - 1, until));  // the snapshot forgets
    piecewise.observe(seen(arrivals, std::max<std::int64_t>(0, until - 5), until));
  }
  const Stretch stretch{.from_second = 121, .seconds = 40, .tail_seconds = 10};
  EXPECT_EQ(whole.expect({0}, stretch).loads, piecewise.expect({0}, stretch).loads);
  EXPECT_EQ(whole.expect({0}, stretch).mean_rate, piecewise.expect({0}, stretch).mean_rate);
}

TEST(ForecastOutlook, ServicesAreApartAndOneNeverSeenHasAPrior) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = forecast_outlook(scenario);
  const Stretch stretch{.from_second = 120, .seconds = 10, .tail_seconds = 10};
  const Expected before = outlook.expect({0}, stretch);
  EXPECT_GT(before.mean_rate, 0);
  outlook.observe(seen(waves(120), 0, 120, 1));
  EXPECT_EQ(outlook.expect({0}, stretch).loads, before.loads);
  EXPECT_EQ(outlook.expect({0}, stretch).mean_rate, before.mean_rate);
  EXPECT_NEAR(outlook.expect({1}, stretch).mean_rate, 120, 10);
}

TEST(KnownCountsOutlook, LoadsAreForecastAndMeanRatesAreThoseOfTheRun) {
  Scenario scenario = testing::two_gpus();
  const OutlookSource forecast = forecast_outlook(scenario);
  const OutlookSource known = known_counts_outlook(scenario, [](ServiceId, std::int64_t) { return 30; });
  for (const OutlookSource* outlook : {&forecast, &known}) outlook->observe(seen(waves(120), 0, 120));
  const Stretch stretch{.from_second = 120, .seconds = 10, .tail_seconds = 10};
  EXPECT_EQ(known.samples, forecast.samples);
  EXPECT_EQ(known.expect({0}, stretch).loads, forecast.expect({0}, stretch).loads);
  EXPECT_EQ(known.expect({0}, stretch).mean_rate, 30);
  EXPECT_NEAR(forecast.expect({0}, stretch).mean_rate, 120, 10);
}

}  // namespace
}  // namespace berth
