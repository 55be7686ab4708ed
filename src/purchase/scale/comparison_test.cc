// The words for a comparison.
#include "purchase/scale/comparison.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::scale {
namespace {

const std::vector<std::uint32_t> ten_per_second(100, 10);

PolicyResult result_of(Policy policy, std::int64_t replica_seconds, std::int64_t in_time) {
  return {.policy = policy,
          .run = {.replica_seconds = replica_seconds, .requests = 1'000, .in_time = in_time, .ups = 0, .downs = 0},
          .tracking = std::nullopt,
          .replicas = std::nullopt,
          .found = {},
          .changes = {}};
}

Comparison comparison_of(std::vector<PolicyResult> results, std::optional<std::int64_t> price = std::nullopt) {
  return {.trace_name = "t",
          .problem = {.load = {.counts = ten_per_second, .from_second = 0},
                      .rate = *ReplicaRate::of(Decimal(8)),
                      .wait_seconds = 2,
                      .start_seconds = 60,
                      .attainment = Decimal(99, 100)},
          .micro_usd_per_replica_hour = price,
          .results = std::move(results)};
}

TEST(ScaleVerdict, RecommendsTheCheapestWithoutHindsightThatIsEnough) {
  const Comparison comparison =
      comparison_of({result_of(Policy::kTargetTracking, 500, 1'000), result_of(Policy::kBands, 100, 989),
                     result_of(Policy::kTuned, 200, 990), result_of(Policy::kBerth, 250, 990)},
                    3'600'000);
  EXPECT_EQ(comparison.recommended(), comparison.result_of(Policy::kBerth));
  EXPECT_EQ(scale_verdict(comparison),
            "Scale by berth: 250 replica-seconds ($0.250000) with 99.00% in time, 25.0% more than tuned (hindsight, "
            "99.00% in "
            "time), 50.0% fewer than target-tracking (100.00% in time).");
  EXPECT_EQ(
      scale_assumption(comparison),
      "Assumed: the recorded arrivals; each replica serves 8 requests a second; starting ones are paid, too; $3.6000 "
      "per replica-hour.");
}

TEST(ScaleVerdict, SaysWhatIsNotReached) {
  const Comparison comparison =
      comparison_of({result_of(Policy::kBands, 100, 900), result_of(Policy::kBerth, 90, 899)});
  EXPECT_EQ(
      scale_verdict(comparison),
      "Scale by bands: 100 replica-seconds with 90.00% in time, 11.1% more than berth (89.90% in time). That is below "
      "what is wanted; no policy without hindsight reached it.");
  EXPECT_EQ(scale_verdict(comparison_of({result_of(Policy::kTuned, 1, 1)})),
            "No policy without hindsight was asked for.");
}

TEST(ScaleVerdict, SharesAreRoundedDownAndAbsentWithoutRequests) {
  PolicyResult result = result_of(Policy::kBerth, 1, 999);
  result.run.requests = 1'000'000;
  result.run.in_time = 989'999;
  EXPECT_EQ(in_time_text(result), "98.99%");
  result.run = {};
  EXPECT_EQ(in_time_text(result), std::nullopt);
  EXPECT_EQ(attainment_of(result), std::nullopt);
  EXPECT_EQ(scale_verdict(comparison_of({result_of(Policy::kFixed, 0, 0)})),
            "No policy without hindsight was asked for.");
}

TEST(ScaleWords, GiveSettingsReasonsAndTheQuestion) {
  PolicyResult result = result_of(Policy::kTuned, 1, 1);
  EXPECT_EQ(setting_text(result), std::nullopt);
  result.tracking = Tracking{.target_twentieths = 19, .hold_seconds = 60};
  EXPECT_EQ(setting_text(result), "target 0.95, hold 60 s");
  result.tracking.reset();
  result.replicas = 1'200;
  EXPECT_EQ(setting_text(result), "1,200 replicas");
  result.replicas.reset();
  result.found = Found{.forecast = 60, .quantile = 0.25, .margin = 2.5};
  EXPECT_EQ(setting_text(result), "mean margin 2.50/s");
  const Comparison comparison = comparison_of({});
  EXPECT_EQ(question_words(comparison),
            "100 seconds with 1,000 requests, at most 10 in one; 0 seconds of history. A replica serves 8 a second and "
            "starts "
            "in 60 s; a request waits at most 2 s; 99.00% of them are wanted in time.");
  const WantChange change{
      .second = 7, .want = 9, .reason = Decision{.replicas = 9, .forecast = 60, .quantile = 0.25, .margin = -2.5}};
  EXPECT_EQ(
      reason_words(change, 5, comparison.problem),
      "From 5 to 9 replicas: it expected 60.0 requests/s 60 s later, and took off 2.50/s as the margin that covers "
      "25.00% of the errors of such forecasts.");
  for (const std::int64_t want : {5, 4, 6, 8}) {
    result.changes.push_back({.second = std::ssize(result.changes), .want = want, .reason = std::nullopt});
  }
  EXPECT_EQ(largest_step_up(result), 2U);
  result.changes.resize(2);
  EXPECT_EQ(largest_step_up(result), std::nullopt);
}

}  // namespace
}  // namespace berth::scale
