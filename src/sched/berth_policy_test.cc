// What berth does with a few jobs, followed by hand.
#include "sched/berth_policy.h"

#include <gtest/gtest.h>

#include "sched/testing/small_workloads.h"

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
  // a goes first, but is no job to lend to while z waits for its guarantee. b starts at once, and what is left is a's.
  const ListedJob lent{.tenant = "y", .gpus = 2, .duration_s = 100, .priority = 1, .is_preemptible = false};
  const Workload workload = workload_of({lent, {.tenant = "z", .gpus = 4, .duration_s = 50}}, 8,
                                        {{.name = "y"}, {.name = "z", .guaranteed = 4}});
  EXPECT_EQ(course_of(workload, Policy::kBerth), "start b 0, start a 0, finish b 50, finish a 100");
}

TEST(Berth, WhatIsKeptForAGuaranteeIsNotLentToWhoMayNotBePreempted) {
  // c would fit beside a, but b waits for the guarantee of z.
  const ListedJob lent{
      .tenant = "y", .submit_s = 1, .gpus = 2, .duration_s = 100, .priority = 1, .is_preemptible = false};
  const Workload workload = workload_of({{.tenant = "y", .gpus = 6, .duration_s = 40, .is_preemptible = false},
                                         {.tenant = "z", .submit_s = 1, .gpus = 4, .duration_s = 50},
                                         lent},
                                        8, {{.name = "y"}, {.name = "z", .guaranteed = 4}});
  EXPECT_EQ(course_of(workload, Policy::kBerth),
            "start a 0, finish a 40, start b 40, start c 40, finish b 90, finish c 140");
}

}  // namespace
}  // namespace berth::sched
