#include "scheduling/jobs/testing/small_workloads.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/ensure.h"

namespace berth::sched::testing {
namespace {

constexpr std::string_view kTypeNames[] = {"finish", "preempt", "start"};

/// A tree of two groups with two tenants each, and one more tenant at the top.
std::vector<ListedTenant> random_tenants(Rng& rng, GpuCount gpus) {
  const auto limit = [&](std::int64_t least) {
    return rng.below(3) == 0 ? std::optional(least + static_cast<std::int64_t>(rng.below(8))) : std::nullopt;
  };
  std::vector<ListedTenant> tenants;
  GpuCount left = gpus;
  for (std::size_t group = 0; group < 2; ++group) {
    const auto guaranteed = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(left) + 1));
    left -= guaranteed;
    tenants.push_back({.name = fmt::format("group{}", group),
                       .guaranteed = guaranteed,
                       .limit = limit(std::max<std::int64_t>(4, guaranteed))});
    const std::size_t parent = tenants.size() - 1;
    GpuCount of_group = guaranteed;
    for (int member = 0; member < 2; ++member) {
      const auto own = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(of_group) + 1));
      of_group -= own;
      tenants.push_back({.name = fmt::format("team{}{}", group, member),
                         .parent = parent,
                         .guaranteed = own,
                         .limit = limit(std::max<std::int64_t>(4, own)),
                         .weight = 1 + static_cast<std::int64_t>(rng.below(3))});
    }
  }
  tenants.push_back(
      {.name = "alone", .guaranteed = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(left) + 1))});
  return tenants;
}

}  // namespace

Workload workload_of(std::vector<ListedJob> jobs, GpuCount gpus, std::vector<ListedTenant> tenants) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].name.empty()) jobs[i].name = std::string(1, static_cast<char>('a' + i));
  }
  auto workload = make_workload(jobs, "jobs", tenants.empty() ? std::nullopt : std::optional(std::move(tenants)), gpus);
  ENSURE(workload.has_value());
  return std::move(*workload);
}

std::string course_of(const Workload& workload, Policy policy, const Terms& terms) {
  std::string course;
  RunListener listener;
  listener.passed = [&](const Simulation& simulation) {
    for (const LogEntry& entry : simulation.log()) {
      course += fmt::format("{}{} {} {}", course.empty() ? "" : ", ", kTypeNames[static_cast<std::size_t>(entry.type)],
                            workload.job_names[static_cast<std::size_t>(entry.job)], entry.time);
    }
  };
  const auto figures = run_policy(workload, terms, policy, listener);
  ENSURE(figures.has_value() && figures->has_value());
  return course;
}

Workload random_workload(Rng rng) {
  const GpuCount gpus = 4 + static_cast<GpuCount>(rng.below(13));
  const std::vector<ListedTenant> tenants = random_tenants(rng, gpus);
  const std::vector<std::string> names = {"team00", "team01", "team10", "team11", "alone"};
  std::vector<ListedJob> jobs;
  for (std::uint64_t i = 0; i < 5 + rng.below(40); ++i) {
    const auto duration = 1 + static_cast<std::int64_t>(rng.below(rng.below(4) == 0 ? 20'000 : 1'000));
    ListedJob job{.name = fmt::format("j{}", i),
                  .tenant = names[rng.below(names.size())],
                  .submit_s = static_cast<std::int64_t>(rng.below(4'000)),
                  .gpus = 1 + static_cast<std::int64_t>(rng.below(4)),
                  .duration_s = duration};
    if (rng.below(2) == 0)
      job.estimate_s = 1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(2 * duration)));
    if (rng.below(4) == 0) job.priority = static_cast<std::int64_t>(rng.below(3)) - 1;
    if (rng.below(3) == 0) job.checkpoint_s = static_cast<std::int64_t>(rng.below(600));
    if (rng.below(6) == 0) job.is_preemptible = false;
    if (rng.below(5) == 0) job.deadline_s = job.submit_s + 2 * duration;
    jobs.push_back(std::move(job));
  }
  // Jobs with which a guarantee could never be met are refused.
  std::vector<ListedJob> preemptible = jobs;
  for (ListedJob& job : preemptible) job.is_preemptible = true;
  Workload workload = workload_of(preemptible, gpus, tenants);
  for (std::size_t i = 0; i < jobs.size(); ++i) workload.jobs[i].is_preemptible = jobs[i].is_preemptible;
  const World empty_pool(workload, {});
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) {
    if (!empty_pool.keeps_guarantees_reachable(job)) workload.jobs[static_cast<std::size_t>(job)].is_preemptible = true;
  }
  return workload;
}

Terms random_terms(Rng rng) {
  return {.round = 10 * (1 + static_cast<Seconds>(rng.below(30))),
          .restart = static_cast<Seconds>(rng.below(100)),
          .min_run = rng.below(2) == 0 ? 0 : static_cast<Seconds>(rng.below(600)),
          .reclaim = static_cast<Seconds>(rng.below(900))};
}

}  // namespace berth::sched::testing
