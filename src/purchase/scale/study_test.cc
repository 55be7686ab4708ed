// The policies by name, and what Berth's own does on loads whose best answer is known.
#include "purchase/scale/study.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "domain/trace/readers.h"

namespace berth::scale {
namespace {

using Counts = std::vector<std::uint32_t>;

struct Setting {
  std::int64_t from_second = 0;
  const char* rate = "1";
  std::int64_t wait = 2;
  std::int64_t start = 60;
};

Problem problem_with(const Counts& counts, const Setting& setting) {
  return {.load = {.counts = counts, .from_second = setting.from_second},
          .rate = *ReplicaRate::of(*Decimal::parse(setting.rate)),
          .wait_seconds = setting.wait,
          .start_seconds = setting.start,
          .attainment = Decimal(99, 100)};
}

double attained(const RunResult& run) { return static_cast<double>(run.in_time) / static_cast<double>(run.requests); }

TEST(Policy, HasOneNameEach) {
  for (const Policy policy : kPolicies) EXPECT_EQ(policy_named(name_of(policy)), policy);
  EXPECT_EQ(name_of(Policy::kTargetTracking), "target-tracking");
  EXPECT_EQ(policy_named("tuned*"), std::nullopt);
  EXPECT_TRUE(is_hindsight(Policy::kTuned));
  EXPECT_FALSE(is_hindsight(Policy::kBerth));
}

TEST(Study, LogsEachChangeOfAWantWithItsReason) {
  Counts counts(200, 7);
  counts.resize(400, 70);
  const Problem problem = problem_with(counts, {.start = 10});
  for (const Policy policy : kPolicies) {
    const PolicyResult result = run_policy(problem, policy);
    ASSERT_FALSE(result.changes.empty());
    EXPECT_EQ(result.changes.front().second, 0);
    for (std::size_t k = 1; k < result.changes.size(); ++k) {
      EXPECT_LT(result.changes[k - 1].second, result.changes[k].second);
      EXPECT_NE(result.changes[k - 1].want, result.changes[k].want);
    }
    for (const WantChange& change : result.changes) EXPECT_EQ(change.reason.has_value(), policy == Policy::kBerth);
  }
}

TEST(Study, GivesTheParametersOfEachPolicy) {
  const Counts counts(300, 8);
  const Problem problem = problem_with(counts, {});
  EXPECT_EQ(run_policy(problem, Policy::kTargetTracking).tracking, Tracking{});
  EXPECT_EQ(run_policy(problem, Policy::kFixed).replicas, 8);
  EXPECT_TRUE(run_policy(problem, Policy::kTuned).tracking.has_value());
  EXPECT_FALSE(run_policy(problem, Policy::kBands).tracking.has_value());
  EXPECT_FALSE(run_policy(problem, Policy::kBerth).replicas.has_value());
}

TEST(Study, SaysHowFarItIsAndEndsWhenTold) {
  const Counts counts(3'600, 8);
  const Problem problem = problem_with(counts, {});
  for (const Policy policy : kPolicies) {
    double last = -1;
    const auto whole = run_policy(problem, policy, [&](double done) {
      EXPECT_LT(last, done);
      last = done;
      return true;
    });
    EXPECT_EQ(whole, run_policy(problem, policy));
    EXPECT_GT(last, 0.8);
    EXPECT_LT(last, 1);
    EXPECT_EQ(run_policy(problem, policy, [](double done) { return done < 0.5; }), std::nullopt);
  }
}

TEST(Study, GivesMeansOfWhatBerthFoundByItself) {
  const Counts counts(3'600, 8);
  const Problem problem = problem_with(counts, {});
  EXPECT_EQ(run_policy(problem, Policy::kFixed).found, std::nullopt);
  const auto found = run_policy(problem, Policy::kBerth).found;
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->forecast, 8, 0.5);
  EXPECT_GE(found->quantile, 0);
  EXPECT_LE(found->quantile, 1);
}

TEST(ForecastPolicy, NeedsLittleMoreThanTheBoundOnAConstantLoad) {
  const Counts counts(14'400, 80);
  const Problem problem = problem_with(counts, {.rate = "8"});
  const RunResult run = run_policy(problem, Policy::kBerth).run;
  EXPECT_EQ(run.in_time, run.requests);
  // Its surplus is from the first hour, when it cannot know yet that the load is even.
  EXPECT_LT(run.replica_seconds * 100, bound_replica_seconds(problem) * 112);
}

TEST(ForecastPolicy, HasNothingWithoutRequests) {
  const Counts counts(7'200, 0);
  EXPECT_EQ(run_policy(problem_with(counts, {}), Policy::kBerth).run.replica_seconds, 0);
}

TEST(ForecastPolicy, StopsAllReplicasAfterTheLastRequestAndStartsAgain) {
  Counts counts(7'200, 10);
  counts.resize(21'600, 0);
  counts.resize(28'800, 10);
  const Problem problem = problem_with(counts, {});
  const RunResult run = run_policy(problem, Policy::kBerth).run;
  // Not a replica for 3 of the 4 quiet hours; the first minute after them is missed by any policy that has none ready.
  EXPECT_LT(run.replica_seconds, std::int64_t{12} * 14'400 + std::int64_t{2} * 3'600);
  EXPECT_GT(run.in_time, run.requests - 750);
}

TEST(ForecastPolicy, LearnsWhatRepeatsAtAnyPhase) {
  // 40 requests per second for a minute of each quarter of an hour, else 4; a day of history.
  Counts counts;
  for (int second = 0; second < 2 * 86'400; ++second) counts.push_back((second + 411) % 900 < 60 ? 40 : 4);
  const Problem problem = problem_with(counts, {.from_second = 86'400, .rate = "4"});
  const RunResult ours = run_policy(problem, Policy::kBerth).run;
  const RunResult tuned = run_policy(problem, Policy::kTuned).run;
  EXPECT_GE(attained(ours), 0.99);
  EXPECT_LT(ours.replica_seconds * 2, tuned.replica_seconds);
}

TEST(ForecastPolicy, LearnsTheMarginFromTheLoad) {
  // Every third second has three times the load: with a wait of 2 seconds that is even, without one it is not.
  Counts counts;
  for (int second = 0; second < 14'400; ++second) counts.push_back(second % 3 == 0 ? 90 : 0);
  const Problem patient = problem_with(counts, {.rate = "10", .wait = 2});
  const Problem impatient = problem_with(counts, {.rate = "10", .wait = 0});
  const RunResult few = run_policy(patient, Policy::kBerth).run;
  const RunResult many = run_policy(impatient, Policy::kBerth).run;
  EXPECT_GE(attained(few), 0.99);
  EXPECT_GE(attained(many), 0.985);
  EXPECT_GT(many.replica_seconds, 2 * few.replica_seconds);
}

std::string unpacked(const std::string& path) {
  std::FILE* pipe = ::popen(("gzip -dc '" + path + "'").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 65'536> part{};
  while (std::feof(pipe) == 0 && std::ferror(pipe) == 0) {
    text.append(part.data(), std::fread(part.data(), 1, part.size(), pipe));
  }
  ::pclose(pipe);
  return text;
}

// A day of the public trace whose load jumps after each full and half hour: a sixth below the best target tracking.
TEST(ForecastPolicy, BeatsTunedTrackingOnAPublicTrace) {
  const char* folder = std::getenv("BERTH_DATA");
  if (folder == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
  const auto trace =
      read_rps_text(unpacked(std::string(folder) + "/twitter/requests_per_second_14days.txt.gz"), "twitter");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Counts days(trace->counts.begin(), trace->counts.begin() + 172'800);
  const Problem problem = problem_with(days, {.from_second = 86'400, .rate = "8"});
  const RunResult ours = run_policy(problem, Policy::kBerth).run;
  const RunResult tuned = run_policy(problem, Policy::kTuned).run;
  EXPECT_EQ(tuned.replica_seconds, 1'843'125);
  EXPECT_GE(attained(ours), 0.985);
  EXPECT_LT(ours.replica_seconds * 100, tuned.replica_seconds * 85);
}

}  // namespace
}  // namespace berth::scale
