#include "serving/warm_study/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/core/rng.h"
#include "serving/warm_study/learned.h"
#include "serving/warm_study/rules.h"
#include "serving/warm_study/sizes.h"
#include "serving/warm_study/verdict.h"

namespace berth::warm {
namespace {

using testing::ElementsAre;

AppCounts app_of(std::string name, std::vector<InvokedMinute> invoked) {
  AppCounts app{.app = std::move(name), .invoked = std::move(invoked)};
  for (const InvokedMinute& each : app.invoked) app.invocations += each.invocations;
  return app;
}

TEST(Loaded, CountsColdStartsIdleMinutesAndPreloads) {
  const AppCounts app = app_of("a", {{2, 1}, {3, 1}, {9, 1}, {20, 1}});
  LoadedMinutes loaded;
  loaded.add({.from = 3, .to = 5});    // from the invoked minute on: no preload; minute 4 is idle
  loaded.add({.from = 8, .to = 10});   // a preload, one idle minute
  loaded.add({.from = 10, .to = 11});  // touches the one before
  loaded.add({.from = 30, .to = 30});
  EXPECT_THAT(loaded.spans(), ElementsAre(MinuteSpan{3, 5}, MinuteSpan{8, 11}));
  EXPECT_EQ(course_of(app, loaded), (AppCourse{.cold_starts = 2, .idle_minutes = 3, .preloads = 1}));
}

TEST(Rules, HybridTakesTheMeanWhereMostGapsAreLong) {
  const AppCounts app = app_of("a", {{0, 1}, {100, 1}, {200, 1}});
  // After minute 0 nothing is known: 1 to 60. Then the mean is 100: 85 to 115, ended by the next or the trace.
  EXPECT_THAT(loaded_by_histogram(app, 400, 60).spans(),
              ElementsAre(MinuteSpan{1, 61}, MinuteSpan{185, 201}, MinuteSpan{285, 316}));
}

TEST(Rules, HybridTakesPercentilesOfAPeakedHistogram) {
  const AppCounts app = app_of("a", {{0, 1}, {10, 1}, {20, 1}});
  EXPECT_THAT(loaded_by_histogram(app, 100, 60).spans(),
              ElementsAre(MinuteSpan{1, 11}, MinuteSpan{19, 21}, MinuteSpan{29, 34}));
}

TEST(Rules, OptimalTakesTheCheapestForEachGap) {
  const AppCounts app = app_of("a", {{5, 1}, {6, 1}, {20, 1}});
  const Prices expensive{.cold_minutes = 30, .load_seconds = 10};
  EXPECT_THAT(loaded_at_best(app, expensive).spans(), ElementsAre(MinuteSpan{5, 7}, MinuteSpan{20, 21}));
  const Prices slow{.cold_minutes = 30, .load_seconds = 1200};
  EXPECT_THAT(loaded_at_best(app, slow).spans(), ElementsAre(MinuteSpan{5, 21}));
  const Prices cheap{.cold_minutes = 0, .load_seconds = 10};
  EXPECT_THAT(loaded_at_best(app, cheap).spans(), ElementsAre(MinuteSpan{6, 7}));
}

TEST(Policies, HaveNames) {
  EXPECT_EQ(policies_named("all", false)->size(), 24);
  EXPECT_EQ(policies_named("curve", false)->size(), 15);
  EXPECT_EQ(policies_named("berth-7", false)->front().minutes, 7);
  EXPECT_EQ(policies_named("all", true)->size(), 4);
  for (const char* unknown : {"berth-", "berth-07", "berth-x", "lru", "", "fixed"}) {
    EXPECT_EQ(policies_named(unknown, false), std::nullopt) << unknown;
  }
  EXPECT_EQ(policies_named("curve", true), std::nullopt);
}

TEST(Policies, CostsAreRoundedHalfToEven) {
  const AppTrace trace{.minutes = 1, .apps = {app_of("a", {{0, 1}})}};
  Problem problem{.trace = &trace, .prices = {.cold_minutes = 1, .micro_usd_per_idle_hour = 30}};  // 60 s x 30 / 3600
  const auto results = run_policies(problem, *policies_named("fixed-5m", false));
  EXPECT_EQ(cost_micro_usd(problem, results.front()), 0);
  problem.prices.micro_usd_per_idle_hour = 90;  // 1.5
  EXPECT_EQ(cost_micro_usd(problem, results.front()), 2);
}

/// Periods, random times and bursts, by seed.
AppTrace random_trace(std::uint64_t seed, std::size_t apps, std::int64_t minutes) {
  Rng rng(seed);
  AppTrace trace{.minutes = minutes, .apps = {}};
  for (std::size_t i = 0; i < apps; ++i) {
    const auto period = static_cast<std::int64_t>(1 + rng.below(90));
    const bool is_strict = rng.below(2) == 0;
    std::vector<InvokedMinute> invoked;
    for (auto minute = static_cast<std::int64_t>(rng.below(60)); minute < minutes;) {
      invoked.push_back({.minute = minute, .invocations = static_cast<std::int64_t>(1 + rng.below(3))});
      minute += is_strict ? period : static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(2 * period)));
    }
    if (!invoked.empty()) trace.apps.push_back(app_of("app" + std::to_string(i), std::move(invoked)));
  }
  return trace;
}

/// The first minutes of a trace; apps keep their numbers, also those without an invocation there.
AppTrace cut_after(const AppTrace& trace, std::int64_t minute) {
  AppTrace cut = trace;
  for (AppCounts& app : cut.apps) {
    std::erase_if(app.invoked, [&](const InvokedMinute& each) { return each.minute > minute; });
  }
  return cut;
}

bool is_loaded(const LoadedMinutes& loaded, std::int64_t minute) {
  return std::ranges::any_of(loaded.spans(),
                             [&](const MinuteSpan& span) { return span.from <= minute && minute < span.to; });
}

void expect_equal_up_to(const std::vector<LoadedMinutes>& whole, const std::vector<LoadedMinutes>& cut,
                        std::int64_t minute) {
  for (std::size_t app = 0; app < whole.size(); ++app) {
    for (std::int64_t at = 0; at <= minute; ++at) {
      ASSERT_EQ(is_loaded(whole[app], at), is_loaded(cut[app], at)) << "app " << app << ", minute " << at;
    }
  }
}

TEST(Policies, WhatIsLoadedUpToTheNextMinuteDependsOnTheMinutesBefore) {
  const AppTrace trace = random_trace(3, 30, 400);
  for (const std::int64_t minute : {0, 1, 57, 200, 301, 398}) {
    const AppTrace cut = cut_after(trace, minute);
    for (const Weigh weigh : {Weigh::kInvocations, Weigh::kApps}) {
      Problem whole{.trace = &trace, .weigh = weigh};
      Problem part{.trace = &cut, .weigh = weigh};
      const std::vector<std::int64_t> prices = {10, 1280};
      const auto loaded = loaded_where_worth(whole, prices);
      const auto loaded_cut = loaded_where_worth(part, prices);
      for (std::size_t i = 0; i < prices.size(); ++i) expect_equal_up_to(loaded[i], loaded_cut[i], minute + 1);
      whole.memory = part.memory = Memory{.mib = 900, .app_mib = std::vector<std::int64_t>(trace.apps.size(), 100)};
      expect_equal_up_to(loaded_by_value(whole), loaded_by_value(part), minute + 1);
    }
  }
}

TEST(Policies, OursStaysWithinTheMemory) {
  const AppTrace trace = random_trace(4, 40, 300);
  Problem problem{.trace = &trace, .memory = Memory{.mib = 777, .app_mib = {}}};
  Rng rng(5);
  for (std::size_t i = 0; i < trace.apps.size(); ++i) {
    problem.memory->app_mib.push_back(static_cast<std::int64_t>(1 + rng.below(300)));
  }
  const auto loaded = loaded_by_value(problem);
  for (std::int64_t minute = 0; minute < trace.minutes; ++minute) {
    std::int64_t mib = 0;
    for (std::size_t app = 0; app < loaded.size(); ++app) {
      if (is_loaded(loaded[app], minute)) mib += problem.memory->app_mib[app];
    }
    EXPECT_LE(mib, 777);
  }
}

TEST(Policies, EqualProblemsGiveEqualResults) {
  const AppTrace trace = random_trace(6, 20, 300);
  const Problem problem{.trace = &trace};
  const auto policies = policies_named("all", false).value();
  const auto first = run_policies(problem, policies);
  const auto second = run_policies(problem, policies);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    EXPECT_EQ(first[i].app_cold_starts, second[i].app_cold_starts);
    EXPECT_EQ(cost_minutes(problem, first[i]), cost_minutes(problem, second[i]));
  }
}

TEST(Verdict, SaysWhatBerthSaves) {
  const AppTrace trace = random_trace(7, 40, 600);
  const Problem problem{.trace = &trace};
  const auto results = run_policies(problem, policies_named("all", false).value());
  EXPECT_THAT(warm_verdict(problem, results), testing::HasSubstr("At 30 idle minutes a cold start, berth costs "));
  EXPECT_THAT(warm_verdict(problem, run_policies(problem, *policies_named("berth", false))),
              testing::HasSubstr("run it together"));
  const AppTrace none{.minutes = 3, .apps = {}};
  const Problem empty{.trace = &none};
  const auto nothing = run_policies(empty, policies_named("all", false).value());
  EXPECT_EQ(warm_verdict(empty, nothing), "The trace has no invocations.");
  EXPECT_EQ(cold_shares(empty, nothing.front()).has_value(), false);
}

TEST(Sizes, AreTheLargestRoundedUp) {
  const AppTrace trace{.minutes = 1, .apps = {app_of("a", {{0, 1}}), app_of("b", {{0, 1}})}};
  const std::string head = "HashFunction,HashApp,AverageAllocatedMb_pct50\n";
  EXPECT_THAT(read_app_sizes(head + "f,a,9.25\ng,b,0\nh,a,10\ni,c,99\n", "m.csv", trace).value(), ElementsAre(10, 1));
  EXPECT_EQ(read_app_sizes(head + "f,a,9.25\n", "m.csv", trace).error().message,
            "m.csv:1:1: wanted a row for each app of the trace, found none for \"b\"");
  EXPECT_EQ(read_app_sizes(head + "f,a,-1\n", "m.csv", trace).has_value(), false);
}

/// The published rules on a sample of the Azure Functions trace of 2019: 298 apps, 480 minutes.
TEST(PublicTrace, GivesTheFiguresOfTheRules) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA is not set";
  std::ifstream file(std::string(data) + "/azure_functions_sample/invocations_subset_480min.csv");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto trace = read_azure_apps(text, "sample");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->apps.size(), 298);
  struct Published {
    const char* name;
    std::int64_t cold_starts;
    std::int64_t idle_minutes;
    double p75;
  };
  const Problem problem{.trace = &*trace};
  for (const Published& each : {Published{"fixed-10m", 1499, 46759, 100}, Published{"fixed-60m", 372, 70266, 13.33},
                                Published{"hybrid", 483, 44534, 13.26}, Published{"hybrid-1h", 532, 34538, 15.97}}) {
    const auto results = run_policies(problem, *policies_named(each.name, false));
    EXPECT_EQ(results.front().cold_starts, each.cold_starts) << each.name;
    EXPECT_EQ(results.front().idle->idle_minutes, each.idle_minutes) << each.name;
    EXPECT_NEAR(cold_shares(problem, results.front())->p75, each.p75, 0.005) << each.name;
  }
}

}  // namespace
}  // namespace berth::warm
