// Schedules computed by hand from the rules of docs/reference/scheduling.md.
#include "scheduling/jobs/round_policy.h"

#include <gtest/gtest.h>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::course_of;
using testing::workload_of;

constexpr Terms kShortRounds = {.round = 10, .restart = 2};

TEST(Las, RunsWhoHasHadLeastAndARestartCostsItsTime) {
  // At 10 b has had nothing. a comes back at 20 with 10 s done, restarts until 22, and would be done at 27.
  const Workload workload =
      workload_of({{.gpus = 2, .duration_s = 15}, {.submit_s = 1, .gpus = 2, .duration_s = 8}}, 2);
  EXPECT_EQ(course_of(workload, Policy::kLas, kShortRounds),
            "start a 0, preempt a 10, start b 10, finish b 18, start a 20, finish a 27");
}

TEST(Las, ProgressIsKeptInMultiplesOfTheCheckpoint) {
  const Workload workload =
      workload_of({{.gpus = 2, .duration_s = 15, .checkpoint_s = 4}, {.submit_s = 1, .gpus = 2, .duration_s = 8}}, 2);
  EXPECT_EQ(course_of(workload, Policy::kLas, kShortRounds),
            "start a 0, preempt a 10, start b 10, finish b 18, start a 20, finish a 29");
}

TEST(Las, WhoMayNotBePreemptedGoesOn) {
  const std::vector<ListedJob> jobs = {{.gpus = 2, .duration_s = 25}, {.submit_s = 1, .gpus = 2, .duration_s = 8}};
  Terms terms = kShortRounds;
  terms.min_run = 15;
  EXPECT_EQ(course_of(workload_of(jobs, 2), Policy::kLas, terms),
            "start a 0, preempt a 20, start b 20, finish b 28, start a 30, finish a 37");
  std::vector<ListedJob> fixed = jobs;
  fixed[0].is_preemptible = false;
  EXPECT_EQ(course_of(workload_of(fixed, 2), Policy::kLas, kShortRounds),
            "start a 0, finish a 25, start b 30, finish b 38");
}

TEST(Srpt, ARestartMayTakeManyRounds) {
  const Workload workload = workload_of({{.duration_s = 30}, {.submit_s = 10, .duration_s = 5}}, 1);
  EXPECT_EQ(course_of(workload, Policy::kSrpt, {.round = 1, .restart = 30'000}),
            "start a 0, preempt a 10, start b 10, finish b 15, start a 15, finish a 30035");
}

TEST(Las, CheckpointsLongerThanRoundsAreAnError) {
  const Workload workload =
      workload_of({{.duration_s = 30, .checkpoint_s = 20}, {.duration_s = 30, .checkpoint_s = 20}}, 1);
  EXPECT_FALSE(run_policy(workload, kShortRounds, Policy::kLas, {}));
}

TEST(Srpt, RunsWhoEndsFirst) {
  const Workload workload = workload_of({{.gpus = 2, .duration_s = 30},
                                         {.submit_s = 1, .gpus = 2, .duration_s = 25},
                                         {.submit_s = 2, .gpus = 2, .duration_s = 5}},
                                        2);
  EXPECT_EQ(course_of(workload, Policy::kSrpt, kShortRounds),
            "start a 0, preempt a 10, start c 10, finish c 15, start a 20, finish a 42, start b 50, finish b 75");
}

TEST(Fair, GivesToTheTenantWithLeastForItsWeight) {
  const std::vector<ListedTenant> tenants = {{.name = "x", .weight = 3}, {.name = "y", .weight = 1}};
  std::vector<ListedJob> jobs;
  jobs.reserve(8);
  for (int i = 0; i < 4; ++i) jobs.push_back({.tenant = "x", .duration_s = 5});
  for (int i = 0; i < 4; ++i) jobs.push_back({.tenant = "y", .duration_s = 5});
  EXPECT_EQ(course_of(workload_of(jobs, 4, tenants), Policy::kFair, kShortRounds),
            "start a 0, start b 0, start c 0, start e 0, finish a 5, finish b 5, finish c 5, finish e 5, start d 10, "
            "start f 10, "
            "start g 10, start h 10, finish d 15, finish f 15, finish g 15, finish h 15");
}

TEST(Fair, ObeysTheLimitsOfGroups) {
  const std::vector<ListedTenant> tenants = {
      {.name = "all", .limit = 1}, {.name = "x", .parent = 0}, {.name = "y", .parent = 0}};
  EXPECT_EQ(course_of(workload_of({{.tenant = "y", .duration_s = 5}, {.tenant = "x", .duration_s = 5}}, 4, tenants),
                      Policy::kFair, kShortRounds),
            "start b 0, finish b 5, start a 10, finish a 15");
}

}  // namespace
}  // namespace berth::sched
