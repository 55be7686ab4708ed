// The decisions of berth for a few jobs, worked out by hand.
#include "scheduling/jobs/berth_policy.h"

#include <gtest/gtest.h>

#include <string>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::course_of;
using testing::workload_of;

TEST(Berth, AHigherPriorityTakesWhatItNeeds) {
  const Workload workload =
      workload_of({{.gpus = 2, .duration_s = 1000}, {.submit_s = 100, .gpus = 2, .duration_s = 10, .priority = 1}}, 2);
  EXPECT_EQ(course_of(workload, Policy::kBerth, {.restart = 0}),
            "start a 0, preempt a 100, start b 100, finish b 110, start a 110, finish a 1010");
}

TEST(Berth, WhoMayNotBePreemptedIsHeldBackForAGuaranteeUntilItIsServed) {
  // a goes first, but may not borrow while z waits for its guarantee. b starts at once, and a gets the rest.
  const ListedJob lent{.tenant = "y", .gpus = 2, .duration_s = 100, .priority = 1, .is_preemptible = false};
  const Workload workload = workload_of({lent, {.tenant = "z", .gpus = 4, .duration_s = 50}}, 8,
                                        {{.name = "y"}, {.name = "z", .guaranteed = 4}});
  EXPECT_EQ(course_of(workload, Policy::kBerth), "start b 0, start a 0, finish b 50, finish a 100");
}

TEST(Berth, WhatIsKeptForAGuaranteeIsNotLentToWhoMayNotBePreempted) {
  // c would fit next to a, but b waits for the guarantee of z.
  const ListedJob lent{
      .tenant = "y", .submit_s = 1, .gpus = 2, .duration_s = 100, .priority = 1, .is_preemptible = false};
  const Workload workload = workload_of(
      {{.tenant = "y", .gpus = 6, .duration_s = 40}, {.tenant = "z", .submit_s = 1, .gpus = 4, .duration_s = 50}, lent},
      8, {{.name = "y"}, {.name = "z", .guaranteed = 4}});
  EXPECT_EQ(course_of(workload, Policy::kBerth),
            "start a 0, finish a 40, start b 40, start c 40, finish b 90, finish c 140");
}

/// One job of all 8 GPUs beside small ones that keep coming and leave it 6 GPUs at any time.
std::vector<ListedJob> large_beside_small(int small_jobs) {
  std::vector<ListedJob> jobs;
  for (int i = 0; i < small_jobs; ++i) {
    jobs.push_back({.name = std::to_string(i), .submit_s = 300 * i, .duration_s = 600});
  }
  jobs.push_back({.name = "large", .submit_s = 900, .gpus = 8, .duration_s = 3600});
  return jobs;
}

TEST(Berth, ALargeJobIsServedByItsBoundHoweverManyOthersCome) {
  for (const int small_jobs : {400, 2000}) {
    const std::string course = course_of(workload_of(large_beside_small(small_jobs), 8), Policy::kBerth);
    // At 900 s a job has run for 600 s, and two more want a GPU each: 900 + 4 x 600 x (8 + 2 + 8) / 8 = 6,300.
    EXPECT_NE(course.find("start large 6300"), std::string::npos);
    EXPECT_NE(course.find("finish large 9660"), std::string::npos);
  }
}

TEST(Berth, WhoMayNotBePreemptedDoesNotPutAGuaranteeOutOfReach) {
  const ListedJob fixed{.tenant = "y", .gpus = 2, .duration_s = 3000, .is_preemptible = false};
  const Workload workload = workload_of({fixed, fixed, {.tenant = "z", .submit_s = 1000, .gpus = 2, .duration_s = 500}},
                                        4, {{.name = "y", .guaranteed = 2}, {.name = "z", .guaranteed = 2}});
  EXPECT_EQ(course_of(workload, Policy::kBerth),
            "start a 0, start c 1000, finish c 1500, finish a 3000, start b 3000, finish b 6000");
}

TEST(Berth, WhatAStartOfTheInstantMakesBorrowedIsGivenBackAtOnce) {
  // d takes what its group is guaranteed, so that the group lends nothing to c any more: e gets c's GPU at once.
  const Workload workload =
      workload_of({{.tenant = "x", .duration_s = 100},
                   {.tenant = "x", .duration_s = 1000},
                   {.tenant = "borrower", .duration_s = 1000},
                   {.tenant = "owner", .submit_s = 50, .gpus = 2, .duration_s = 500, .priority = 1},
                   {.tenant = "x", .submit_s = 60, .duration_s = 50}},
                  4,
                  {{.name = "group", .guaranteed = 2},
                   {.name = "owner", .parent = 0, .guaranteed = 2},
                   {.name = "borrower", .parent = 0},
                   {.name = "x", .guaranteed = 2}});
  const std::string course = course_of(workload, Policy::kBerth, {.min_run = 100, .reclaim = 0});
  EXPECT_NE(course.find("finish a 100, preempt c 100, start d 100, start e 100, finish e 150"), std::string::npos)
      << course;
}

TEST(Berth, AGuaranteeIsGivenBackByWhoeverHasEnough) {
  // f wants 2 GPUs more for its guarantee. c and d together are 1 above theirs: d alone would bring them there, and is
  // not enough; c alone is. e started too recently to be preempted.
  const ListedJob large{.tenant = "c", .gpus = 2, .duration_s = 20'000};
  const ListedJob small{.tenant = "c", .submit_s = 21'000, .gpus = 1, .duration_s = 90'000};
  const Workload workload =
      workload_of({large,
                   {.tenant = "a", .gpus = 4, .duration_s = 38'000},
                   {.tenant = "c", .submit_s = 20'000, .gpus = 2, .duration_s = 90'000},
                   small,
                   {.tenant = "b", .submit_s = 37'000, .duration_s = 90'000},
                   {.tenant = "a", .submit_s = 21'000, .gpus = 6, .duration_s = 100}},
                  8, {{.name = "a", .guaranteed = 6}, {.name = "b"}, {.name = "c", .guaranteed = 2}});
  const std::string course = course_of(workload, Policy::kBerth, {.min_run = 10'000});
  EXPECT_NE(course.find("finish b 38000, preempt c 38600, start f 38600"), std::string::npos) << course;
}

TEST(Berth, WhoIsPreemptedForAGuaranteeHasNoClaimItselfIfOthersCanGive) {
  // e wants 11 GPUs and 3 are missing. b and d together fit their guarantee again; c gives more than is needed.
  const Workload workload = workload_of(
      {{.tenant = "x", .submit_s = 6'418, .gpus = 1, .duration_s = 682, .deadline_s = 8'464},
       {.tenant = "x", .submit_s = 6'671, .gpus = 1, .duration_s = 758},
       {.tenant = "y", .submit_s = 5'913, .gpus = 4, .duration_s = 2'248},
       {.tenant = "x", .submit_s = 6'089, .gpus = 2, .duration_s = 995},
       {.tenant = "z", .submit_s = 7'063, .gpus = 11, .duration_s = 86},
       {.tenant = "y", .submit_s = 2'984, .gpus = 1, .duration_s = 1'183}},
      16, {{.name = "z", .guaranteed = 11}, {.name = "x", .guaranteed = 2}, {.name = "y", .guaranteed = 3}});
  const std::string course = course_of(workload, Policy::kBerth, {.restart = 1'200, .min_run = 60, .reclaim = 0});
  EXPECT_NE(course.find("preempt c 7063, start e 7063"), std::string::npos) << course;
}

TEST(Berth, ARestartIsNotLentWhatIsClaimedBeforeItIsOver) {
  // b took the GPU of c, and lost it to d. When a ends it would hold c's GPU for a restart that may not be interrupted.
  const Workload workload =
      workload_of({{.tenant = "x", .duration_s = 577, .priority = 1},
                   {.tenant = "y", .submit_s = 94, .duration_s = 510, .priority = 1, .checkpoint_s = 1'000},
                   {.tenant = "x", .submit_s = 10, .duration_s = 285},
                   {.tenant = "z", .submit_s = 337, .duration_s = 9'000}},
                  2, {{.name = "x", .guaranteed = 1}, {.name = "y"}, {.name = "z", .guaranteed = 1}});
  const std::string course = course_of(workload, Policy::kBerth, {.restart = 3'000, .reclaim = 5});
  EXPECT_NE(course.find("finish a 577, start c 577"), std::string::npos) << course;
}

}  // namespace
}  // namespace berth::sched
