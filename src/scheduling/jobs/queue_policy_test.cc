// Schedules computed by hand from the rules of docs/reference/scheduling.md.
#include "scheduling/jobs/queue_policy.h"

#include <gtest/gtest.h>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::course_of;
using testing::workload_of;

TEST(Fifo, TheHeadBlocksThoseBehindIt) {
  const Workload workload =
      workload_of({{.gpus = 2, .duration_s = 10}, {.gpus = 4, .duration_s = 5}, {.gpus = 1, .duration_s = 1}}, 4);
  EXPECT_EQ(course_of(workload, Policy::kFifo),
            "start a 0, finish a 10, start b 10, finish b 15, start c 15, finish c 16");
  EXPECT_EQ(course_of(workload, Policy::kSkip),
            "start a 0, start c 0, finish c 1, finish a 10, start b 10, finish b 15");
}

TEST(Fifo, PriorityGoesFirstThenSubmitThenRow) {
  const Workload workload = workload_of({{.submit_s = 0, .duration_s = 10},
                                         {.submit_s = 2, .duration_s = 1},
                                         {.submit_s = 1, .duration_s = 1},
                                         {.submit_s = 3, .duration_s = 1, .priority = 1}},
                                        1);
  EXPECT_EQ(course_of(workload, Policy::kFifo),
            "start a 0, finish a 10, start d 10, finish d 11, start c 11, finish c 12, start b 12, finish b 13");
}

TEST(Sjf, TheShortestGoesFirstAndBlocks) {
  const Workload workload = workload_of({{.gpus = 3, .duration_s = 10},
                                         {.submit_s = 1, .gpus = 4, .duration_s = 2},
                                         {.submit_s = 1, .gpus = 1, .duration_s = 3}},
                                        4);
  EXPECT_EQ(course_of(workload, Policy::kSjf),
            "start a 0, finish a 10, start b 10, finish b 12, start c 12, finish c 15");
}

TEST(Easy, BackfillsWhatEndsBeforeTheHeadStartsOrFitsBesideIt) {
  // a runs until 100 as expected; b needs all but one GPU then: shadow 100, extra 1.
  const Workload workload = workload_of({{.gpus = 2, .duration_s = 100, .estimate_s = 100},
                                         {.submit_s = 1, .gpus = 3, .duration_s = 10, .estimate_s = 10},
                                         {.submit_s = 2, .gpus = 1, .duration_s = 98, .estimate_s = 98},
                                         {.submit_s = 3, .gpus = 1, .duration_s = 500, .estimate_s = 500},
                                         {.submit_s = 4, .gpus = 1, .duration_s = 500, .estimate_s = 500}},
                                        4);
  EXPECT_EQ(course_of(workload, Policy::kEasy),
            "start a 0, start c 2, start d 3, finish a 100, finish c 100, start b 100, finish b 110, start e 110, "
            "finish d 503, "
            "finish e 610");
}

TEST(Easy, LearnsTwiceTheLowerMedianOfThoseOfItsTenantAndSize) {
  // Three jobs of 10, 20 and 30 s have finished when d comes: 40 s are expected, so it does not fit before the head e.
  std::vector<ListedJob> jobs = {
      {.gpus = 1, .duration_s = 10}, {.gpus = 1, .duration_s = 20}, {.gpus = 1, .duration_s = 30}};
  jobs.push_back({.submit_s = 40, .gpus = 1, .duration_s = 100, .estimate_s = 100});
  jobs.push_back({.submit_s = 41, .gpus = 3, .duration_s = 5});
  jobs.push_back({.submit_s = 99, .gpus = 1, .duration_s = 1});
  jobs.push_back({.submit_s = 100, .gpus = 1, .duration_s = 1, .estimate_s = 40});
  EXPECT_EQ(course_of(workload_of(jobs, 3), Policy::kEasy),
            "start a 0, start b 0, start c 0, finish a 10, finish b 20, finish c 30, start d 40, start f 99, finish f "
            "100, start g 100, "
            "finish g 101, finish d 140, start e 140, finish e 145");
}

TEST(EveryPolicy, RunsASingleJobAtOnce) {
  const Workload one = workload_of({{.gpus = 1, .duration_s = 1}}, 1);
  for (const Policy policy : kPolicies) EXPECT_EQ(course_of(one, policy), "start a 0, finish a 1") << name_of(policy);
}

}  // namespace
}  // namespace berth::sched
