#include "scheduling/jobs/figures.h"

#include <gtest/gtest.h>

#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

using testing::workload_of;

TEST(Figures, AreThoseOfACourseThatCanBeCountedByHand) {
  // a runs 0 to 100 on 2 of 2 GPUs; b, of another tenant, waits from 50 to 100 and runs until 130 on one.
  const Workload workload =
      workload_of({{.tenant = "x", .gpus = 2, .duration_s = 100, .deadline_s = 100},
                   {.tenant = "y", .submit_s = 50, .gpus = 1, .duration_s = 30, .deadline_s = 129}},
                  2);
  const PolicyFigures figures = **run_policy(workload, {}, Policy::kFifo, {});
  EXPECT_TRUE(figures.completion.sum == 180);
  EXPECT_DOUBLE_EQ(figures.completion.mean, 90);
  EXPECT_EQ(figures.completion.p50, 80);
  EXPECT_EQ(figures.completion.p99, 100);
  EXPECT_TRUE(figures.wait.sum == 50);
  EXPECT_DOUBLE_EQ(figures.slowdown_mean, (1.0 + 80.0 / 60) / 2) << "30 s count as 60";
  EXPECT_EQ(figures.makespan, 130);
  EXPECT_DOUBLE_EQ(figures.utilisation, 230.0 / 260);
  EXPECT_EQ(figures.deadlines_missed, 1) << "finished at the deadline is in time";
  // Between 50 and 100 three GPUs are requested, one from then on: (150 + 30) / 80 / 2 = 1.125 on average.
  EXPECT_DOUBLE_EQ(figures.rho_worst, 80 / (60 * 1.125));
  ASSERT_EQ(figures.tenants.size(), 2U);
  EXPECT_EQ(figures.tenants[0].tenant, "x");
  EXPECT_TRUE(figures.tenants[0].gpu_seconds == 200 && figures.tenants[0].gpu_seconds_borrowed == 200);
  EXPECT_DOUBLE_EQ(figures.tenants[1].completion_mean, 80);
  EXPECT_EQ(makespan_bound(workload), 115) << "230 GPU-seconds on 2 GPUs";
}

TEST(Figures, BorrowedIsWhatLiesAboveTheGuarantee) {
  const Workload workload =
      workload_of({{.tenant = "x", .gpus = 3, .duration_s = 100}}, 4, {{.name = "x", .guaranteed = 2}});
  const PolicyFigures figures = **run_policy(workload, {}, Policy::kFifo, {});
  EXPECT_TRUE(figures.tenants[0].gpu_seconds == 300 && figures.tenants[0].gpu_seconds_borrowed == 100);
}

TEST(Workloads, AJobThatCanNeverRunIsAnError) {
  const auto refusal = [](const std::vector<ListedJob>& jobs, const std::optional<std::vector<ListedTenant>>& tenants) {
    const auto workload = make_workload(jobs, "j.csv", tenants, 4);
    return workload ? "" : workload.error().message;
  };
  EXPECT_EQ(refusal({{.name = "a", .gpus = 5, .line = 2}}, std::nullopt),
            "j.csv:2:1: job \"a\": gpus: wanted at most the 4 of the pool, found 5");
  const std::vector<ListedTenant> tenants = {{.name = "all", .limit = 2}, {.name = "x", .parent = 0}};
  EXPECT_EQ(refusal({{.name = "a", .tenant = "x", .gpus = 3, .line = 2}}, tenants),
            "j.csv:2:1: job \"a\": gpus: wanted at most 2, the limit of tenant \"all\", found 3");
  EXPECT_EQ(refusal({{.name = "a", .tenant = "all", .line = 2}}, tenants),
            "j.csv:2:1: job \"a\": tenant: wanted one without children, found \"all\"");
  EXPECT_EQ(refusal({{.name = "a", .tenant = "z", .line = 2}}, tenants),
            "j.csv:2:1: job \"a\": tenant: wanted one of the tenants' file, found \"z\"");
}

}  // namespace
}  // namespace berth::sched
