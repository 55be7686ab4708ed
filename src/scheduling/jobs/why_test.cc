// Explanations and slots of states that can be followed by hand.
#include "scheduling/jobs/why.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/ensure.h"
#include "scheduling/jobs/moment.h"
#include "scheduling/jobs/slot.h"
#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::workload_of;

Moment moment_of(const Workload& workload, Policy policy, Seconds at, const Terms& terms = {}) {
  auto moment = moment_at(workload, terms, policy, at, {});
  ENSURE(moment.has_value() && moment->has_value());
  return std::move(**moment);
}

Explanation explained(const Workload& workload, Policy policy, int job, Seconds at) {
  return explain(moment_of(workload, policy, at), JobIndex(job));
}

/// "gpus 5, preempt 1 (a)".
std::string changes_text(const Workload& workload, const Explanation& explanation) {
  std::string text;
  for (const Change& change : explanation.changes) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(change.kind)) + " " + change.where + " " +
            std::to_string(change.by);
    for (const JobIndex job : change.jobs) text += " " + workload.job_names[static_cast<std::size_t>(job)];
  }
  return text;
}

/// 4 GPUs: a on 3 until 100, b wants 4, c wants 1.
Workload three_jobs() {
  return workload_of({{.gpus = 3, .duration_s = 100, .estimate_s = 100},
                      {.submit_s = 10, .gpus = 4, .duration_s = 50, .estimate_s = 50},
                      {.submit_s = 20, .gpus = 1, .duration_s = 5, .estimate_s = 5}},
                     4);
}

TEST(Why, FifoCountsThoseAheadAndWhatWouldLetThemAllStart) {
  const Workload workload = three_jobs();
  const Explanation explanation = explained(workload, Policy::kFifo, 2, 30);
  EXPECT_EQ(explanation.verdict, Verdict::kWaiting);
  ASSERT_EQ(explanation.blockers.size(), 1U);  // one GPU is free, and it wants one
  EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kOrder);
  EXPECT_EQ(explanation.blockers[0].needed, 5);
  EXPECT_EQ(explanation.blockers[0].available, 1);
  EXPECT_EQ(explanation.blockers[0].where, "b");
  EXPECT_EQ(explanation.ahead.jobs, std::vector{JobIndex(1)});
  EXPECT_DOUBLE_EQ(explanation.ahead.gpu_hours, 4 * 50 / 3600.0);
  EXPECT_EQ(changes_text(workload, explanation), "gpus pool 4, priority c 1");
  ASSERT_TRUE(explanation.eta);
  EXPECT_EQ(explanation.eta->p50, 150);
}

TEST(Why, PreemptingIsOfferedWhereItHelps) {
  const Workload workload = three_jobs();
  EXPECT_EQ(changes_text(workload, explained(workload, Policy::kFifo, 1, 30)), "gpus pool 3, preempt pool 1 a");
}

TEST(Why, FewVictimsThatLoseLittle) {
  // b and c are equally large; c would lose less progress since its checkpoint.
  const Workload workload = workload_of({{.gpus = 1, .duration_s = 1000},
                                         {.gpus = 2, .duration_s = 1000, .checkpoint_s = 500},
                                         {.submit_s = 5, .gpus = 2, .duration_s = 1000, .checkpoint_s = 500},
                                         {.submit_s = 9, .gpus = 2, .duration_s = 10}},
                                        5);
  EXPECT_EQ(changes_text(workload, explained(workload, Policy::kSkip, 3, 30)), "gpus pool 2, preempt pool 1 c");
}

TEST(Why, ALimitIsAReasonOnlyWhereItIsKept) {
  const Workload workload = workload_of(
      {{.tenant = "x", .gpus = 2, .duration_s = 100}, {.tenant = "x", .submit_s = 1, .gpus = 2, .duration_s = 10}}, 3,
      {{.name = "top"}, {.name = "x", .parent = 0, .limit = 3}});
  const Explanation berth = explained(workload, Policy::kBerth, 1, 10);
  ASSERT_EQ(berth.blockers.size(), 2U);
  EXPECT_EQ(berth.blockers[0].code, BlockerCode::kLimit);
  EXPECT_EQ(berth.blockers[0].where, "x");
  EXPECT_EQ(berth.blockers[0].needed, 2);
  EXPECT_EQ(berth.blockers[0].available, 1);
  EXPECT_EQ(berth.blockers[1].code, BlockerCode::kCapacity);
  EXPECT_NE(berth.message.find("x runs on 2 of at most 3"), std::string::npos) << berth.message;
  // More GPUs alone do not help, nor does a higher limit.
  EXPECT_EQ(changes_text(workload, berth), "priority b 1, preempt pool 1 a");
  EXPECT_EQ(explained(workload, Policy::kSkip, 1, 10).blockers.size(), 1U);
}

TEST(Why, WhoIsAheadIsNoReasonWhereGpusAreLeftForAll) {
  // x may use 4 of 16 GPUs and does; of its two small jobs that wait, the second does not wait for the first.
  const ListedJob small{.tenant = "x", .submit_s = 1, .duration_s = 100};
  const Workload workload =
      workload_of({{.tenant = "x", .gpus = 4, .duration_s = 1000}, small, small}, 16, {{.name = "x", .limit = 4}});
  for (const int job : {1, 2}) {
    const Explanation explanation = explained(workload, Policy::kBerth, job, 10);
    ASSERT_EQ(explanation.blockers.size(), 1U) << explanation.message;
    EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kLimit);
  }
}

/// On 4 GPUs two jobs of y for 2 each that may not be preempted; with one of them the other has to wait for z.
Workload fixed_jobs(const std::vector<ListedTenant>& tenants) {
  const ListedJob fixed{.tenant = "y", .gpus = 2, .duration_s = 3000, .is_preemptible = false};
  return workload_of({fixed, fixed, {.tenant = "z", .submit_s = 1000, .gpus = 2, .duration_s = 500}}, 4, tenants);
}

TEST(Why, AnOverdueJobBelowTheSameLimitIsAhead) {
  // b is overdue from 1 + 4 x 600 x (8 + 3 + 2) / 8 = 3,901 s on, and fits below the limit only after a.
  const Workload workload = workload_of({{.tenant = "x", .gpus = 3, .duration_s = 100'000, .is_preemptible = false},
                                         {.tenant = "x", .submit_s = 1, .gpus = 2, .duration_s = 100},
                                         {.tenant = "x", .submit_s = 5000, .duration_s = 100}},
                                        8, {{.name = "x", .limit = 4}});
  const Explanation explanation = explained(workload, Policy::kBerth, 2, 5030);
  EXPECT_EQ(explanation.verdict, Verdict::kWaiting);
  ASSERT_FALSE(explanation.blockers.empty());
  EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kOrder);
  EXPECT_EQ(explanation.blockers[0].where, "b");
}

TEST(Why, TheGuaranteeThatAJobWouldPutOutOfReachIsNamed) {
  const std::vector<ListedTenant> top = {{.name = "y", .guaranteed = 2}, {.name = "z", .guaranteed = 2}};
  const std::vector<ListedTenant> members = {{.name = "g", .guaranteed = 4},
                                             {.name = "y", .parent = 0, .guaranteed = 2},
                                             {.name = "z", .parent = 0, .guaranteed = 2}};
  for (const auto& tenants : {top, members}) {
    const Explanation explanation = explained(fixed_jobs(tenants), Policy::kBerth, 1, 500);
    ASSERT_EQ(explanation.blockers.size(), 1U);  // 2 GPUs are free
    EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kGuarantee);
    EXPECT_EQ(explanation.blockers[0].needed, 2);
    EXPECT_EQ(explanation.blockers[0].available, 0);
    EXPECT_EQ(explanation.blockers[0].where, "z");
    EXPECT_NE(explanation.message.find("it may not be preempted, and would put the guarantee of z out of reach"),
              std::string::npos)
        << explanation.message;
  }
}

TEST(Why, WhereNobodyIsGuaranteedAnythingNoGuaranteeIsNamed) {
  const ListedJob fixed{.gpus = 2, .duration_s = 3000, .is_preemptible = false};
  const ListedJob larger{.submit_s = 1, .gpus = 3, .duration_s = 3000, .is_preemptible = false};
  const Explanation explanation = explained(workload_of({fixed, larger}, 4), Policy::kBerth, 1, 500);
  ASSERT_EQ(explanation.blockers.size(), 1U);
  EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kCapacity);
}

TEST(Why, OfManyPrioritiesTheLeastThatHelpsIsFound) {
  // Of 500 jobs with a priority each two run, one GPU is free, and the last job must pass the first that waits.
  std::vector<ListedJob> jobs;
  for (std::int64_t i = 1; i <= 500; ++i) jobs.push_back({.gpus = 2, .duration_s = 10, .priority = 10 * i});
  jobs.push_back({.duration_s = 10});
  const Workload workload = workload_of(jobs, 5);
  const Explanation explanation = explained(workload, Policy::kFifo, 500, 0);
  ASSERT_GE(explanation.changes.size(), 2U);
  EXPECT_EQ(explanation.changes[0].by, 996);
  EXPECT_EQ(explanation.changes[1].by, 4'981);
}

TEST(Why, BetweenRoundsNothingStartsAJob) {
  const Workload workload = workload_of({{.duration_s = 10}, {.submit_s = 30, .duration_s = 10}}, 4);
  const Explanation explanation = explained(workload, Policy::kLas, 1, 40);
  ASSERT_EQ(explanation.blockers.size(), 1U);
  EXPECT_EQ(explanation.blockers[0].code, BlockerCode::kRound);
  EXPECT_EQ(explanation.blockers[0].needed, 300);
  EXPECT_TRUE(explanation.changes.empty());
  EXPECT_EQ(explanation.eta->p50, 300);
}

TEST(Why, KnowsEveryState) {
  const Workload workload = three_jobs();
  EXPECT_EQ(explained(workload, Policy::kFifo, 1, 9).verdict, Verdict::kNotSubmitted);
  EXPECT_EQ(explained(workload, Policy::kFifo, 1, 10).verdict, Verdict::kWaiting);
  EXPECT_EQ(explained(workload, Policy::kFifo, 1, 100).verdict, Verdict::kRunning);
  EXPECT_EQ(explained(workload, Policy::kFifo, 1, 150).verdict, Verdict::kFinished);
  EXPECT_EQ(explained(workload, Policy::kFifo, 1, 1'000'000).eta->p50, 100);
}

TEST(Slot, CountsOnTheEstimatesOfRunningJobs) {
  const Workload workload = three_jobs();
  const Moment moment = moment_of(workload, Policy::kFifo, 30);
  const auto slot = [&](GpuCount gpus) { return find_slot(moment.after.world(), moment.run_times, {.gpus = gpus}); };
  EXPECT_EQ(slot(1)->start, 30);
  EXPECT_EQ(slot(1)->confidence, 1);
  EXPECT_EQ(slot(4)->start, 100);
  EXPECT_DOUBLE_EQ(slot(4)->confidence, 0.9);  // nothing has finished: nine estimates in ten hold
  EXPECT_FALSE(slot(5));
}

TEST(Slot, ChancesOfSeveralJobsAreMultiplied) {
  // Either of two: 1 - 0.1 x 0.1; both: 0.9 x 0.9. Numbers of GPUs may be large.
  for (const GpuCount gpus : {1, 500'000'000}) {
    const ListedJob job{.gpus = gpus, .duration_s = 100, .estimate_s = 100};
    const Workload workload = workload_of({job, job}, 2 * gpus);
    const Moment moment = moment_of(workload, Policy::kFifo, 30);
    const auto slot = [&](GpuCount wanted) {
      return find_slot(moment.after.world(), moment.run_times, {.gpus = wanted});
    };
    EXPECT_DOUBLE_EQ(slot(gpus)->confidence, 0.99);
    EXPECT_DOUBLE_EQ(slot(2 * gpus)->confidence, 0.81);
  }
}

TEST(Slot, ManyDifferentNumbersOfGpusKeepTheirChances) {
  std::vector<ListedJob> jobs;
  GpuCount all = 0;
  for (GpuCount gpus = 1; gpus <= 1 << 18; gpus *= 2) {
    jobs.push_back({.gpus = gpus, .duration_s = 100, .estimate_s = 100});
    all += gpus;
  }
  const Workload workload = workload_of(jobs, all);
  const Moment moment = moment_of(workload, Policy::kFifo, 30);
  const auto sure = [&](GpuCount gpus) {
    return find_slot(moment.after.world(), moment.run_times, {.gpus = gpus})->confidence;
  };
  EXPECT_NEAR(sure(all), std::pow(0.9, jobs.size()), 1e-9);
  EXPECT_NEAR(sure(1 << 18), 0.9, 1e-9);
  EXPECT_LE(sure(1000), 1);
}

TEST(Slot, AJobThatOutlivesItsEstimateRunsAsLongAgain) {
  const Workload workload = workload_of({{.gpus = 2, .duration_s = 100, .estimate_s = 20}}, 2);
  const Moment moment = moment_of(workload, Policy::kFifo, 30);
  EXPECT_EQ(find_slot(moment.after.world(), moment.run_times, {.gpus = 1})->start, 60);
}

TEST(Slot, ConfidenceComesFromTheEstimatesThatHeld) {
  // Four finished jobs, two within their estimates; then one that runs.
  const Workload workload = workload_of({{.duration_s = 10, .estimate_s = 10},
                                         {.duration_s = 10, .estimate_s = 10},
                                         {.duration_s = 20, .estimate_s = 10},
                                         {.duration_s = 30, .estimate_s = 10},
                                         {.submit_s = 50, .gpus = 4, .duration_s = 90, .estimate_s = 50}},
                                        4);
  const Moment moment = moment_of(workload, Policy::kFifo, 60);
  const auto slot = find_slot(moment.after.world(), moment.run_times, {.gpus = 4});
  EXPECT_EQ(slot->start, 100);
  EXPECT_DOUBLE_EQ(slot->confidence, (2 + 0.9) / (4 + 1));
}

}  // namespace
}  // namespace berth::sched
