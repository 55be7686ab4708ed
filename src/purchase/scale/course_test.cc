// The timeline of a run adds up to its result for any window and bins.
#include "purchase/scale/course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace berth::scale {
namespace {

using Counts = std::vector<std::uint32_t>;

Problem course_problem_of(const Counts& counts, std::int64_t from_second, std::int64_t start_seconds) {
  return {.load = {.counts = counts, .from_second = from_second},
          .rate = *ReplicaRate::of(Decimal(8)),
          .wait_seconds = 2,
          .start_seconds = start_seconds,
          .attainment = Decimal(99, 100)};
}

/// Waves with jumps, so that replicas start, stop and miss.
Counts waves() {
  Counts counts;
  for (std::uint32_t second = 0; second < 3'000; ++second) {
    counts.push_back(20 + second % 700 / 10 + (second % 500 < 40 ? 60 : 0));
  }
  return counts;
}

CourseBin sum_of(const std::vector<CourseBin>& bins) {
  CourseBin sum;
  for (const CourseBin& bin : bins) {
    sum.seconds += bin.seconds;
    sum.arrivals += bin.arrivals;
    sum.arrivals_max = std::max(sum.arrivals_max, bin.arrivals_max);
    sum.ready += bin.ready;
    sum.starting += bin.starting;
    sum.missed += bin.missed;
  }
  return sum;
}

TEST(Course, AddsUpToTheResultOfEachPolicy) {
  const Counts counts = waves();
  const Problem problem = course_problem_of(counts, 600, 60);
  for (const Policy policy : kPolicies) {
    const PolicyResult result = run_policy(problem, policy);
    const auto bins = course_of(problem, result, {.from_second = 0, .seconds = 2'400, .bin_seconds = 7});
    ASSERT_EQ(bins.size(), 343U);
    EXPECT_EQ(bins.back().seconds, 6);
    const CourseBin sum = sum_of(bins);
    EXPECT_EQ(sum.ready + sum.starting, result.run.replica_seconds) << name_of(policy);
    EXPECT_EQ(sum.missed, result.run.requests - result.run.in_time) << name_of(policy);
    EXPECT_EQ(sum.arrivals, result.run.requests);
    EXPECT_GT(policy == Policy::kFixed ? 1 : sum.starting, 0) << name_of(policy);
  }
}

TEST(Course, AWindowIsAPartOfTheWhole) {
  const Counts counts = waves();
  const Problem problem = course_problem_of(counts, 600, 60);
  const PolicyResult result = run_policy(problem, Policy::kTuned);
  const auto whole = course_of(problem, result, {.from_second = 0, .seconds = 2'400, .bin_seconds = 1});
  const auto part = course_of(problem, result, {.from_second = 100, .seconds = 50, .bin_seconds = 1});
  ASSERT_EQ(part.size(), 50U);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[100 + i]);
  EXPECT_GT(sum_of(whole).missed, 0);
}

TEST(Course, WhatTheEndLeavesWaitingIsMissedInTheLastSecond) {
  const Counts counts = {8, 8, 800};
  const Problem problem = course_problem_of(counts, 0, 600);
  const PolicyResult result = run_policy(problem, Policy::kBands);
  const auto bins = course_of(problem, result, {.from_second = 0, .seconds = 3, .bin_seconds = 1});
  EXPECT_EQ(bins[2].missed, result.run.requests - result.run.in_time);
  EXPECT_GT(bins[2].missed, 0);
}

}  // namespace
}  // namespace berth::scale
