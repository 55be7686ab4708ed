#include "surface/pages/schedule_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "scheduling/jobs/study.h"
#include "scheduling/jobs/testing/small_workloads.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using report::testing::count_of;
using report::testing::has_bad_number;
using sched::Workload;
using sched::testing::random_workload;
using sched::testing::workload_of;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<sched::Policy> every_policy(sched::kPolicies.begin(), sched::kPolicies.end());

sched::Comparison compared_policies(const Workload& workload, const std::vector<sched::Policy>& policies) {
  sched::Comparison comparison{.trace_name = "t<r>.csv", .workload = &workload};
  for (const sched::Policy policy : policies) {
    comparison.courses.emplace_back(workload, policy);
    sched::RunListener listener;
    listener.passed = [&](const sched::Simulation& simulation) { comparison.courses.back().add(simulation); };
    comparison.results.push_back(**sched::run_policy(workload, comparison.terms, policy, listener));
  }
  return comparison;
}

std::string schedule_page_of(const Workload& workload, const std::vector<sched::Policy>& policies) {
  return render_schedule_report(compared_policies(workload, policies));
}

/// Two tenants; b and c wait for a.
Workload small_list() {
  return workload_of({{.name = "a", .tenant = "x<", .gpus = 2, .duration_s = 1'000},
                      {.name = "b&", .tenant = "y", .submit_s = 50, .gpus = 1, .duration_s = 300},
                      {.name = "c", .tenant = "y", .submit_s = 60, .gpus = 2, .duration_s = 3'000, .deadline_s = 70}},
                     2, {{.name = "g", .guaranteed = 1, .limit = 2}, {.name = "x<", .parent = 0}, {.name = "y"}});
}

TEST(ScheduleReport, BeginsWithTheVerdictAndItsTable) {
  const std::string page = schedule_page_of(small_list(), every_policy);
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">)"));
  EXPECT_THAT(page, HasSubstr(" s mean completion"));
  EXPECT_THAT(page, HasSubstr("<dd>t&lt;r&gt;.csv</dd>"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">srpt *</th>)"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">las</th>)"));
  EXPECT_THAT(page, HasSubstr("* works in hindsight"));
  EXPECT_THAT(page, HasSubstr(R"(<td data-label="Deadlines missed">1</td>)"));
  EXPECT_FALSE(has_bad_number(page));
}

TEST(ScheduleReport, ShowsBerthFirstAndSwitchesWithoutScript) {
  const std::string page = schedule_page_of(small_list(), every_policy);
  EXPECT_THAT(page, HasSubstr(R"(id="choice0" autocomplete="off" checked> berth</label>)"));
  EXPECT_THAT(page, HasSubstr(R"(id="choice1" autocomplete="off"> fifo</label>)"));
  EXPECT_EQ(count_of(page, " checked>"), 1U);
  EXPECT_THAT(page, HasSubstr("#inside:has(#choice7:checked) .of7 { display: block; }"));
  EXPECT_EQ(count_of(page, "aria-label=\"GPUs by tenant over time under"), every_policy.size());
  EXPECT_EQ(count_of(page, "aria-label=\"Queue over time under"), every_policy.size());
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(ScheduleReport, EachTenantStandsBesideItsShare) {
  const std::string page = schedule_page_of(small_list(), {sched::Policy::kFifo});
  EXPECT_THAT(page, HasSubstr("Each tenant beside its guarantee and limit"));
  EXPECT_THAT(page, HasSubstr("guaranteed 1 · limit 2"));
  EXPECT_EQ(count_of(page, R"(class="guarantee" d="M44)"), 1U);
  EXPECT_EQ(count_of(page, R"(class="most" d="M44)"), 1U);
  const Workload plain = workload_of({{.tenant = "x"}, {.tenant = "y"}}, 2);
  EXPECT_THAT(schedule_page_of(plain, {sched::Policy::kFifo}), Not(HasSubstr("beside its guarantee")));
}

TEST(ScheduleReport, EachJobIsARowThatSaysWhatItIs) {
  const std::string page = schedule_page_of(small_list(), {sched::Policy::kFifo});
  EXPECT_THAT(page, HasSubstr("<title>b&amp; of y: 1 GPU, waits 15.8 min, takes 20.8 min for 5 min</title>"));
  EXPECT_THAT(page, HasSubstr("<title>c of y: 2 GPUs, waits 20.7 min, takes 70.7 min for 50 min, late</title>"));
  EXPECT_THAT(page, HasSubstr("fifo: 3 jobs, 0 preemptions"));
}

TEST(ScheduleReport, PreemptionsAndRestartsAreVisible) {
  const Workload workload = workload_of({{.gpus = 1, .duration_s = 900}, {.gpus = 1, .duration_s = 900}}, 1);
  const std::string page = schedule_page_of(workload, {sched::Policy::kLas});
  EXPECT_THAT(page, HasSubstr(", 3 preemptions</title>"));
  EXPECT_EQ(count_of(page, R"(<path class="br" d="M)"), 2U + 1) << "two jobs and the legend";
  EXPECT_EQ(count_of(page, R"(<path class="bp" d="M)"), 2U + 1);
}

TEST(ScheduleReport, OneJobAloneIsAPage) {
  for (const sched::Policy policy : every_policy) {
    const std::string page = schedule_page_of(workload_of({{.gpus = 1, .duration_s = 1}}, 1), {policy});
    EXPECT_THAT(page, HasSubstr("all jobs start at once"));
    EXPECT_FALSE(has_bad_number(page)) << sched::name_of(policy);
  }
}

TEST(ScheduleReport, LongListsSayWhyThereAreNoBars) {
  std::vector<ListedJob> jobs;
  jobs.reserve(sched::kCourseJobsMax + 1);
  for (std::size_t i = 0; i <= sched::kCourseJobsMax; ++i) jobs.push_back({.name = std::to_string(i)});
  const std::string page =
      schedule_page_of(workload_of(std::move(jobs), 64), {sched::Policy::kFifo, sched::Policy::kBerth});
  EXPECT_THAT(page, HasSubstr("2,001 jobs: they are drawn one by one in lists of at most 2,000."));
  EXPECT_THAT(page, Not(HasSubstr("joblist\">")));
}

TEST(ScheduleReport, OtherTenantsAreDrawnTogether) {
  std::vector<ListedJob> jobs;
  jobs.reserve(60);
  for (int i = 0; i < 60; ++i) {
    jobs.push_back({.name = fmt::format("j{}", i), .tenant = fmt::format("t{}", i), .duration_s = 100 + i});
  }
  const std::string page = schedule_page_of(workload_of(std::move(jobs), 8), {sched::Policy::kBerth});
  EXPECT_THAT(page, HasSubstr("The 24 tenants with the most work have a colour"));
  EXPECT_THAT(page, HasSubstr(">all other tenants</text>"));
  EXPECT_FALSE(has_bad_number(page));
}

TEST(ScheduleReport, QueuesOfVeryDifferentLengthsAreLogarithmic) {
  // Under fifo b, which does not fit, blocks all others for as long as a runs.
  std::vector<ListedJob> jobs = {{.name = "a", .gpus = 1, .duration_s = 50'000}, {.name = "b", .gpus = 2}};
  jobs.reserve(42);
  for (int i = 0; i < 40; ++i) jobs.push_back({.name = std::to_string(i), .submit_s = 100 * i + 1, .duration_s = 50});
  const Workload workload = workload_of(std::move(jobs), 2);
  EXPECT_THAT(schedule_page_of(workload, {sched::Policy::kFifo, sched::Policy::kSkip}),
              HasSubstr("; from 1 on they are logarithmic."));
  EXPECT_THAT(schedule_page_of(workload, {sched::Policy::kSkip}), Not(HasSubstr("logarithmic.")));
}

/// Recomputes GPU-seconds from the first tenant's upper edge, to the precision of positions.
TEST(ScheduleReport, TheLowestAreaOfTheStackIsTheTenantsUse) {
  const Workload workload = workload_of({{.tenant = "x", .gpus = 3, .duration_s = 100},
                                         {.tenant = "x", .submit_s = 50, .gpus = 1, .duration_s = 100},
                                         {.tenant = "x", .submit_s = 400, .gpus = 2, .duration_s = 60}},
                                        4);
  const std::string page = schedule_page_of(workload, {sched::Policy::kFifo});
  std::smatch found;
  ASSERT_TRUE(std::regex_search(page, found, std::regex(R"(<path class="use t0" d="([^"]*)\"/>)")));
  const std::string path = found[1];
  // Each run of columns: along its upper edge in steps (x, y), until Z.
  double area = 0;
  double x = 0;
  double y = 240;
  const std::regex step(R"(M([0-9.]+) ([0-9.]+)|H([0-9.]+)|V([0-9.]+))");
  for (auto it = std::sregex_iterator(path.begin(), path.end(), step); it != std::sregex_iterator(); ++it) {
    if ((*it)[1].matched) {
      x = std::stod((*it)[1]);
      y = std::stod((*it)[2]);
    } else if ((*it)[3].matched) {
      area += (std::stod((*it)[3]) - x) * (240 - y);
      x = std::stod((*it)[3]);
    } else {
      y = std::stod((*it)[4]);
    }
  }
  const double gpu_seconds = area * (4.0 / 230) * (460.0 / (730 - 52));
  EXPECT_NEAR(gpu_seconds, 300 + 100 + 120, 2);
}

TEST(ScheduleReport, EqualInputsGiveEqualBytesAndNoBadNumbers) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Workload workload = random_workload(Rng(seed));
    const std::string page = schedule_page_of(workload, every_policy);
    EXPECT_EQ(page, schedule_page_of(workload, every_policy)) << seed;
    EXPECT_FALSE(has_bad_number(page)) << seed;
    EXPECT_THAT(page, Not(HasSubstr("{{")));
  }
}

}  // namespace
}  // namespace berth::report
