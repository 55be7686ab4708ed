#include "engine/loop/outlook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

/// Poses a question about two services, and lets the source learn of the answers.
std::vector<Expected> ask_all(const OutlookSource& outlook, const Stretch& stretch) {
  const Expect expect = outlook.ask();
  std::vector<Expected> all = {expect({0}, stretch), expect({1}, stretch)};
  if (outlook.learn) outlook.learn(stretch.from_second, {all[0].mean_rate, all[1].mean_rate});
  return all;
}

Expected ask(const OutlookSource& outlook, ServiceId service, const Stretch& stretch) {
  return ask_all(outlook, stretch)[service.index];
}

std::int64_t ramp(ServiceId service, std::int64_t second) { return second * (service.index == 0 ? 1 : 10); }

TEST(KnownOutlook, ReportsEachSecondAndTheTailsMean) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = known_outlook(scenario, ramp);
  EXPECT_EQ(outlook.samples, 1);
  const Expected expected = ask(outlook, {1}, {.from_second = 7, .seconds = 3, .tail_seconds = 4});
  EXPECT_EQ(expected.loads, (std::vector<double>{70, 80, 90, (100 + 110 + 120 + 130) / 4.0}));
  EXPECT_EQ(ask(outlook, {0}, {.from_second = 7, .seconds = 1, .tail_seconds = 1}).loads, (std::vector<double>{7, 8}));
}

TEST(KnownOutlook, MeanRatesAreOverTheWholeRun) {
  Scenario scenario = testing::two_gpus();
  const OutlookSource same = known_outlook(scenario, [](ServiceId, std::int64_t) { return 30; });
  const Stretch stretch{.from_second = 0, .seconds = 1, .tail_seconds = 1};
  EXPECT_EQ(ask(same, {0}, stretch).mean_rate, 30);
  // A service whose requests end before the run does has fewer of them, each worth more.
  scenario.services[1].arrivals.seconds = 15;
  const OutlookSource outlook = known_outlook(
      scenario, [](ServiceId service, std::int64_t second) { return service.index == 0 || second < 15 ? 30 : 0; });
  EXPECT_EQ(ask(outlook, {0}, stretch).mean_rate, 30);
  EXPECT_EQ(ask(outlook, {1}, stretch).mean_rate, 7.5);
  const OutlookSource none = known_outlook(scenario, [](ServiceId, std::int64_t) { return 0; });
  EXPECT_GT(ask(none, {0}, stretch).mean_rate, 0);
}

/// A snapshot that holds the seconds `from` to `until` - 1 of one service.
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
  const Expected expected = ask(outlook, {0}, {.from_second = 200, .seconds = 30, .tail_seconds = 50});
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

TEST(ForecastOutlook, WhereLateRequestsAreAnsweredPlansCountOnHigherLoads) {
  Scenario scenario = testing::two_gpus();
  const auto arrivals = waves(200);
  const Stretch stretch{.from_second = 200, .seconds = 30, .tail_seconds = 50};
  const auto of = [&](const Scenario& asked) {
    const OutlookSource outlook = forecast_outlook(asked);
    outlook.observe(seen(arrivals, 0, 200));
    return ask(outlook, {0}, stretch);
  };
  const Expected none_late = of(scenario);
  scenario.services[0].ready.answer = scenario.services[0].target;
  EXPECT_EQ(of(scenario).loads, none_late.loads);
  scenario.services[0].ready.answer = scenario.services[0].target + Micros(1);
  const Expected some_late = of(scenario);
  ASSERT_EQ(some_late.loads.size(), none_late.loads.size());
  for (std::size_t i = 0; i < some_late.loads.size(); ++i) EXPECT_GT(some_late.loads[i], none_late.loads[i]);
  EXPECT_EQ(some_late.mean_rate, none_late.mean_rate);
  EXPECT_EQ(none_late.raised, 1);
  EXPECT_GT(some_late.raised, 1);
  EXPECT_LT(some_late.raised, 1.5);
  scenario.services[0].ready.answer = std::nullopt;
  scenario.services[0].drop = DropRule::kNever;
  EXPECT_EQ(of(scenario).loads, some_late.loads);
}

TEST(ForecastOutlook, ASecondIsLearnedOnceHoweverOftenItIsSeen) {
  const Scenario scenario = testing::two_gpus();
  const auto arrivals = waves(120);
  const OutlookSource whole = forecast_outlook(scenario);
  const OutlookSource piecewise = forecast_outlook(scenario);
  const OutlookSource at_once = forecast_outlook(scenario);
  at_once.observe(seen(arrivals, 0, 120));
  for (std::int64_t until = 1; until <= 120; ++until) {
    whole.observe(seen(arrivals, 0, until));
    piecewise.observe(seen(arrivals, until - 1, until));  // the snapshot forgets
    piecewise.observe(seen(arrivals, std::max<std::int64_t>(0, until - 5), until));
  }
  const Stretch stretch{.from_second = 121, .seconds = 40, .tail_seconds = 10};
  const Expected expected = ask(whole, {0}, stretch);
  for (const OutlookSource* other : {&piecewise, &at_once}) {
    const Expected same = ask(*other, {0}, stretch);
    EXPECT_EQ(same.loads, expected.loads);
    EXPECT_EQ(same.mean_rate, expected.mean_rate);
  }
}

TEST(ForecastOutlook, ASourceNeedsOnlyTheRatesOfAnswersThatAreWorkedOutElsewhere) {
  const Scenario scenario = testing::two_gpus();
  const auto arrivals = waves(300);
  const OutlookSource answering = forecast_outlook(scenario);
  const OutlookSource rebuilt = forecast_outlook(scenario);
  for (std::int64_t second = 0; second < 300; ++second) {
    for (const OutlookSource* each : {&answering, &rebuilt}) each->observe(seen(arrivals, second, second + 1));
    if (second % 40 != 39) continue;
    const Stretch stretch{.from_second = second + 1, .seconds = 20, .tail_seconds = 10};
    static_cast<void>(rebuilt.ask());
    const Expected expected = ask(answering, {0}, stretch);
    rebuilt.learn(second + 1, {expected.mean_rate, 1});
  }
  const Stretch stretch{.from_second = 300, .seconds = 20, .tail_seconds = 10};
  const Expected expected = ask(answering, {0}, stretch);
  const Expected same = ask(rebuilt, {0}, stretch);
  EXPECT_EQ(same.loads, expected.loads);
  EXPECT_EQ(same.mean_rate, expected.mean_rate);
}

TEST(ForecastOutlook, WhatIsSeenWhileAQuestionIsOpenIsNotPartOfIt) {
  const Scenario scenario = testing::two_gpus();
  const auto arrivals = waves(200);
  const OutlookSource outlook = forecast_outlook(scenario);
  const OutlookSource undisturbed = forecast_outlook(scenario);
  for (const OutlookSource* each : {&outlook, &undisturbed}) each->observe(seen(arrivals, 0, 120));
  const Stretch stretch{.from_second = 120, .seconds = 20, .tail_seconds = 10};
  const Expect expect = outlook.ask();
  for (std::int64_t second = 120; second < 200; ++second) outlook.observe(seen(arrivals, second, second + 1));
  EXPECT_EQ(expect({0}, stretch).loads, ask(undisturbed, {0}, stretch).loads);
}

TEST(ForecastOutlook, AnAnswerAboutAServiceThatIsGoneIsNotThatOfItsSuccessor) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = forecast_outlook(scenario);
  outlook.observe(seen(waves(120), 0, 120));
  const Stretch stretch{.from_second = 130, .seconds = 20, .tail_seconds = 10};
  const Expect expect = outlook.ask();
  Snapshot next = seen({}, 0, 0);
  next.services[0].number = 7;
  outlook.observe(next);
  outlook.learn(130, {expect({0}, stretch).mean_rate, expect({1}, stretch).mean_rate});
  const std::vector<Expected> anew = ask_all(outlook, stretch);
  EXPECT_EQ(anew[0].loads, anew[1].loads);  // no data on either
  EXPECT_EQ(anew[0].mean_rate, anew[1].mean_rate);
}

TEST(ForecastOutlook, ServicesAreApartAndOneNeverSeenHasAPrior) {
  const Scenario scenario = testing::two_gpus();
  const OutlookSource outlook = forecast_outlook(scenario);
  const Stretch stretch{.from_second = 120, .seconds = 10, .tail_seconds = 10};
  const Expected before = ask(forecast_outlook(scenario), {0}, stretch);
  EXPECT_GT(before.mean_rate, 0);
  outlook.observe(seen(waves(120), 0, 120, 1));
  EXPECT_EQ(ask(outlook, {0}, stretch).loads, before.loads);
  EXPECT_EQ(ask(outlook, {0}, stretch).mean_rate, before.mean_rate);
  EXPECT_NEAR(ask(outlook, {1}, stretch).mean_rate, 120, 10);
}

// ---- the mean rate of forecast_outlook

/// Asks as the policy does: arrivals are observed second by second, and every 5 s a plan is made. Service 1 has no
/// requests.
class AskedRun {
 public:
  explicit AskedRun(const Scenario& scenario) : outlook_(forecast_outlook(scenario)) {}

  /// Passes `seconds` with `requests` in each. Returns the mean rate at their end.
  double pass(std::int64_t seconds, std::int64_t requests) {
    const std::int64_t end = now_ + seconds;
    while (now_ < end) {
      Snapshot snapshot;
      snapshot.services.resize(2);
      snapshot.services[0].seconds.push_back({.service = {0}, .second = now_, .arrivals = requests});
      snapshot.services[1].seconds.push_back({.service = {1}, .second = now_, .arrivals = 0});
      outlook_.observe(snapshot);
      ++now_;
      if (now_ >= 0 && now_ % 5 == 0) rate_of({0});
    }
    return rate_of({0});
  }
  double rate_of(ServiceId service) const { return expect(service).mean_rate; }
  Expected expect(ServiceId service) const {
    return ask(outlook_, service, {.from_second = now_, .seconds = 200, .tail_seconds = 100});
  }
  void begin_history(std::int64_t seconds) { now_ = -seconds; }

 private:
  OutlookSource outlook_;
  std::int64_t now_ = 0;
};

TEST(ForecastOutlook, TheMeanRateIsThatOfTheRunNotOfTheHourBefore) {
  const Scenario scenario = testing::two_gpus();
  for (const std::int64_t before : {35, 280}) {
    SCOPED_TRACE(before);
    AskedRun run(scenario);
    run.begin_history(3600);
    run.pass(3600, before);
    // Long forecasts are still slightly influenced by the hour before.
    EXPECT_NEAR(run.pass(200, 100), 100, 15);
    EXPECT_NEAR(run.pass(400, 100), 100, 5);
  }
}

TEST(ForecastOutlook, WhatHasPassedOfTheRunCountsWithWhatIsExpected) {
  const Scenario scenario = testing::two_gpus();
  AskedRun run(scenario);
  run.pass(600, 100);
  const double after = run.pass(300, 400);
  // 900 s of 200 on average have passed, 300 s of about 400 are expected.
  EXPECT_GT(after, 200);
  EXPECT_LT(after, 260);
}

TEST(ForecastOutlook, WhatIsLongPastFadesInALongRun) {
  const Scenario scenario = testing::two_gpus();
  AskedRun run(scenario);
  run.pass(7200, 1000);
  EXPECT_NEAR(run.pass(std::int64_t{4} * 3600, 100), 100, 25);  // the mean over the run is 400
}

TEST(ForecastOutlook, MeanRatesOfPlansASecondApartAreAlike) {
  const Scenario scenario = testing::two_gpus();
  AskedRun run(scenario);
  double last = run.pass(60, 100);
  const double calm = last;
  for (int second = 0; second < 60; ++second) {
    const double rate = run.pass(1, 1500);
    EXPECT_EQ(run.rate_of({0}), rate);  // asked twice
    EXPECT_LT(std::max(rate, last) / std::min(rate, last), 1.15) << second;
    last = rate;
  }
  EXPECT_GT(last, 4 * calm);
}

TEST(ForecastOutlook, WithoutHistoryTheFirstForecastsAreSoonForgotten) {
  const Scenario scenario = testing::two_gpus();
  AskedRun run(scenario);
  EXPECT_LT(run.rate_of({0}), 100);  // the forecaster's prior
  EXPECT_NEAR(run.pass(30, 2000), 2000, 200);
}

TEST(ForecastOutlook, OneRequestOfAnIdleServiceIsWorthNoMoreThanAllOfIt) {
  const Scenario scenario = testing::two_gpus();
  AskedRun run(scenario);
  run.begin_history(600);
  run.pass(600, 10);
  for (const std::int64_t passed : {5, 600}) {
    SCOPED_TRACE(passed);
    run.pass(passed, 10);
    const double rate = run.rate_of({1});
    EXPECT_GT(rate, 0);
    EXPECT_GE(rate * (605 + 300), 1);
    EXPECT_LT(rate, 0.01);
  }
}

/// The expected requests of a slot: their mean over the samples, and the largest sample.
struct SlotLoad {
  double mean = 0;
  double most = 0;
};

SlotLoad load_in(const Expected& expected, std::size_t slot) {
  constexpr std::size_t kSamples = 5;
  SlotLoad load;
  for (std::size_t k = slot * kSamples; k < (slot + 1) * kSamples; ++k) {
    load.mean += expected.loads[k] / kSamples;
    load.most = std::max(load.most, expected.loads[k]);
  }
  return load;
}

TEST(ForecastOutlook, AStatedLoadVariesAsSingleRequestsDo) {
  Scenario scenario = testing::two_gpus();
  scenario.services[0].expects = Decimal(100);
  scenario.services[1].expects = Decimal(1, 100);
  AskedRun run(scenario);
  const SlotLoad load = load_in(run.expect({0}), 3);
  EXPECT_NEAR(load.mean, 100, 1);
  EXPECT_NEAR(load.most, 113, 1);                      // the quantile 0.9
  EXPECT_GT(load_in(run.expect({1}), 3).mean, 0.005);  // although most of its seconds have no request
}

TEST(ForecastOutlook, MoreRequestsThanStatedCountWithinSeconds) {
  Scenario scenario = testing::two_gpus();
  scenario.services[0].expects = Decimal(100);
  AskedRun run(scenario);
  run.pass(10, 250);
  EXPECT_GT(load_in(run.expect({0}), 3).mean, 200);
}

TEST(ForecastOutlook, FewerRequestsThanStatedCountWhenTheServiceIsKnown) {
  Scenario scenario = testing::two_gpus();
  scenario.services[0].expects = Decimal(100);
  AskedRun run(scenario);
  run.pass(95, 20);
  EXPECT_NEAR(load_in(run.expect({0}), 3).mean, 100, 1);
  run.pass(5, 20);
  EXPECT_LT(load_in(run.expect({0}), 3).mean, 40);
}

TEST(KnownCountsOutlook, AStatedLoadIsConstant) {
  Scenario scenario = testing::two_gpus();
  scenario.services[0].expects = Decimal(100);
  const OutlookSource known = known_counts_outlook(scenario, [](ServiceId, std::int64_t) { return 30; });
  known.observe(seen(waves(10), 0, 10));
  const Expected expected = ask(known, {0}, {.from_second = 10, .seconds = 10, .tail_seconds = 10});
  EXPECT_EQ(load_in(expected, 3).most, 100);
}

TEST(KnownCountsOutlook, LoadsAreForecastAndMeanRatesAreThoseOfTheRun) {
  Scenario scenario = testing::two_gpus();
  const OutlookSource forecast = forecast_outlook(scenario);
  const OutlookSource known = known_counts_outlook(scenario, [](ServiceId, std::int64_t) { return 30; });
  for (const OutlookSource* outlook : {&forecast, &known}) outlook->observe(seen(waves(120), 0, 120));
  const Stretch stretch{.from_second = 120, .seconds = 10, .tail_seconds = 10};
  EXPECT_EQ(known.samples, forecast.samples);
  EXPECT_EQ(ask(known, {0}, stretch).loads, ask(forecast, {0}, stretch).loads);
  EXPECT_EQ(ask(known, {0}, stretch).mean_rate, 30);
  EXPECT_NEAR(ask(forecast, {0}, stretch).mean_rate, 120, 10);
}

}  // namespace
}  // namespace berth
