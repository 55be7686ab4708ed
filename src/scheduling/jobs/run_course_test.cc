#include "scheduling/jobs/run_course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "scheduling/jobs/study.h"
#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::random_workload;
using testing::workload_of;

struct Recorded {
  PolicyFigures figures;
  RunCourse course;
};

Recorded record(const Workload& workload, Policy policy, const Terms& terms = {}) {
  RunCourse course(workload, policy);
  RunListener listener;
  listener.passed = [&](const Simulation& simulation) { course.add(simulation); };
  PolicyFigures figures = **run_policy(workload, terms, policy, listener);
  return {.figures = std::move(figures), .course = std::move(course)};
}

Int128 sum_of(const CourseSeries& series) {
  Int128 sum = 0;
  for (const Int128 integral : series.integrals) sum += integral;
  return sum;
}

TEST(RunCourse, IsThatOfARunThatCanBeCountedByHand) {
  // a runs 0 to 100 on 2 of 2 GPUs; b waits from 50 to 100 and runs until 130 on one.
  const Workload workload = workload_of(
      {{.tenant = "x", .gpus = 2, .duration_s = 100}, {.tenant = "y", .submit_s = 50, .gpus = 1, .duration_s = 30}}, 2);
  const RunCourse course = record(workload, Policy::kFifo).course;
  EXPECT_EQ(course.end(), 130);
  EXPECT_EQ(course.column_seconds(), 1);
  ASSERT_EQ(course.columns(), 130U);
  EXPECT_DOUBLE_EQ(course.mean(course.used_gpus(), 99), 2);
  EXPECT_DOUBLE_EQ(course.mean(course.used_gpus(), 100), 1);
  EXPECT_DOUBLE_EQ(course.mean(course.queued_jobs(), 49), 0);
  EXPECT_DOUBLE_EQ(course.mean(course.queued_gpus(), 50), 1);
  EXPECT_DOUBLE_EQ(course.mean(course.queued_jobs(), 129), 0);
  EXPECT_DOUBLE_EQ(course.mean(course.use_of(1)), 30.0 / 130);
  ASSERT_EQ(course.waits().size(), 2U);
  EXPECT_EQ(course.waits()[0], 0);
  EXPECT_EQ(course.waits()[1], 50);
  ASSERT_EQ(course.runs().size(), 2U);
  EXPECT_EQ(course.runs()[1].start, 100);
  EXPECT_EQ(course.runs()[1].end, 130);
  EXPECT_FALSE(course.runs()[1].is_restart || course.runs()[1].is_preempted);
}

TEST(RunCourse, ColumnsAreJoinedAndTheLastEndsWithTheRun) {
  const Workload workload = workload_of({{.gpus = 1, .duration_s = 1000}}, 1);
  const RunCourse course = record(workload, Policy::kSkip).course;
  EXPECT_EQ(course.column_seconds(), 4);
  EXPECT_EQ(course.columns(), 250U);
  const Workload odd = workload_of({{.gpus = 1, .duration_s = 1001}}, 1);
  const RunCourse longer = record(odd, Policy::kSkip).course;
  EXPECT_EQ(longer.columns(), 251U);
  EXPECT_DOUBLE_EQ(longer.mean(longer.used_gpus(), 250), 1) << "of the only second of the column";
}

TEST(RunCourse, ItsIntegralsAreTheFigures) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Workload workload = random_workload(Rng(seed));
    for (const Policy policy : kPolicies) {
      const Recorded run = record(workload, policy);
      Int128 held = 0;
      std::map<std::string, Int128> by_tenant;
      for (const TenantFigures& tenant : run.figures.tenants) {
        by_tenant[tenant.tenant] = tenant.gpu_seconds;
        held += tenant.gpu_seconds;
      }
      EXPECT_TRUE(sum_of(run.course.used_gpus()) == held) << seed;
      for (std::size_t place = 0; place < run.course.tenants().size(); ++place) {
        const FollowedTenant& followed = run.course.tenants()[place];
        if (followed.is_group) continue;
        EXPECT_TRUE(sum_of(run.course.use_of(place)) == by_tenant[workload.tenant(followed.tenant).name]) << seed;
      }
      Int128 completion = 0;
      for (const JobRun& job_run : run.course.runs()) completion += job_run.end - job_run.start;
      EXPECT_TRUE(sum_of(run.course.queued_jobs()) + completion == run.figures.completion.sum)
          << "every second of a job is one in the queue or one on GPUs";
      EXPECT_EQ(run.course.queued_jobs().value, 0);
      EXPECT_EQ(run.course.queued_gpus().value, 0);
      EXPECT_EQ(run.course.end(), run.figures.makespan);
      EXPECT_LE(run.course.columns(), static_cast<std::size_t>(kCourseColumnsMax));
      Int128 waited = 0;
      for (const Seconds wait : run.course.waits()) waited += wait;
      EXPECT_TRUE(waited == run.figures.wait.sum) << seed;
      EXPECT_EQ(run.figures.preemptions, std::ranges::count(run.course.runs(), true, &JobRun::is_preempted));
    }
  }
}

TEST(RunCourse, TenantsAreInTheOrderOfTheTree) {
  const Workload workload = workload_of({{.tenant = "x"}, {.tenant = "y"}, {.tenant = "z", .gpus = 2}}, 4,
                                        {{.name = "z", .parent = 2},
                                         {.name = "y"},
                                         {.name = "g"},
                                         {.name = "without jobs", .parent = 2},
                                         {.name = "x", .parent = 2}});
  std::string order;
  for (const FollowedTenant& followed : tenants_to_follow(workload)) {
    order +=
        std::string(followed.depth, '-') + workload.tenant(followed.tenant).name + (followed.is_group ? ": " : " ");
  }
  EXPECT_EQ(order, "y g: -z -x ");
}

TEST(RunCourse, OnlyTheLargestTenantsAreFollowed) {
  std::vector<ListedJob> jobs;
  jobs.reserve(40);
  for (int i = 0; i < 40; ++i) {
    jobs.push_back({.name = std::to_string(i), .tenant = std::to_string(i), .duration_s = 10 + i});
  }
  const Workload workload = workload_of(std::move(jobs), 4);
  const auto followed = tenants_to_follow(workload);
  ASSERT_EQ(followed.size(), kCourseTenantsMax);
  EXPECT_EQ(workload.tenant(followed.front().tenant).name, "16");
  EXPECT_EQ(workload.tenant(followed.back().tenant).name, "39");
}

TEST(RunCourse, LongListsAreNotFollowedJobByJob) {
  std::vector<ListedJob> jobs;
  jobs.reserve(kCourseJobsMax + 1);
  for (std::size_t i = 0; i <= kCourseJobsMax; ++i) jobs.push_back({.name = std::to_string(i)});
  const Workload workload = workload_of(std::move(jobs), 100);
  const RunCourse course = record(workload, Policy::kFifo).course;
  EXPECT_FALSE(course.has_runs());
  EXPECT_TRUE(course.runs().empty());
  EXPECT_EQ(course.waits().size(), kCourseJobsMax + 1);
}

}  // namespace
}  // namespace berth::sched
