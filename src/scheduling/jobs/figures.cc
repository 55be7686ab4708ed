#include "scheduling/jobs/figures.h"

#include <algorithm>
#include <cmath>

namespace berth::sched {
namespace {

constexpr Seconds kShortestRated = 60;  // below it a slowdown is meaningless
constexpr double kNearlyAll = 0.99;

/// By nearest rank. Requires: ascending, not empty.
template <class T>
T percentile(const std::vector<T>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(1, rank) - 1];
}

Spread spread_of(std::vector<Seconds> values) {
  std::ranges::sort(values);
  Spread spread;
  for (const Seconds value : values) spread.sum += value;
  spread.mean = static_cast<double>(spread.sum) / static_cast<double>(values.size());
  spread.p50 = percentile(values, 0.5);
  spread.p99 = percentile(values, kNearlyAll);
  spread.max = values.back();
  return spread;
}

Seconds completion_of(const World& world, JobIndex job) {
  return world.record(job).stopped - world.workload().job(job).submit;
}

std::vector<TenantFigures> tenant_figures(const World& world) {
  const Workload& workload = world.workload();
  std::vector<TenantFigures> all(workload.tenants.size());
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) {
    TenantFigures& figures = all[static_cast<std::size_t>(workload.job(job).tenant)];
    ++figures.jobs;
    figures.completion_mean += static_cast<double>(completion_of(world, job));
  }
  std::vector<TenantFigures> with_jobs;
  for (const TenantIndex tenant : indices_of<TenantIndex>(all)) {
    TenantFigures& figures = all[static_cast<std::size_t>(tenant)];
    if (figures.jobs == 0) continue;
    figures.tenant = workload.tenant(tenant).name;
    figures.completion_mean /= static_cast<double>(figures.jobs);
    figures.gpu_seconds = world.gpu_seconds(tenant);
    figures.gpu_seconds_borrowed = world.borrowed_gpu_seconds(tenant);
    with_jobs.push_back(std::move(figures));
  }
  std::ranges::sort(with_jobs, {}, &TenantFigures::tenant);
  return with_jobs;
}

}  // namespace

double slowdown_of(const World& world, JobIndex job) {
  const Seconds duration = std::max(world.workload().job(job).duration, kShortestRated);
  return std::max(1.0, static_cast<double>(completion_of(world, job)) / static_cast<double>(duration));
}

double rho_of(const World& world, JobIndex job) {
  const JobRecord& record = world.record(job);
  const Seconds completion = completion_of(world, job);
  const auto duration = static_cast<double>(std::max(world.workload().job(job).duration, kShortestRated));
  const double asked = static_cast<double>(record.asked_at_finish - record.asked_at_submit) /
                       (static_cast<double>(completion) * static_cast<double>(world.workload().gpus));
  return static_cast<double>(completion) / (duration * std::max(1.0, asked));
}

PolicyFigures figures_of(Policy policy, const World& world) {
  const Workload& workload = world.workload();
  PolicyFigures figures{.policy = policy};
  std::vector<Seconds> completions;
  std::vector<Seconds> waits;
  std::vector<double> slowdowns;
  Int128 work = 0;
  for (const JobIndex index : indices_of<JobIndex>(workload.jobs)) {
    const Job& job = workload.job(index);
    const JobRecord& record = world.record(index);
    completions.push_back(completion_of(world, index));
    waits.push_back(*record.first_start - job.submit);
    slowdowns.push_back(slowdown_of(world, index));
    figures.rho_worst = std::max(figures.rho_worst, rho_of(world, index));
    figures.makespan = std::max(figures.makespan, record.stopped);
    figures.deadlines_missed += job.deadline && record.stopped > *job.deadline ? 1 : 0;
    work += Int128(job.gpus) * job.duration;
  }
  figures.completion = spread_of(std::move(completions));
  figures.wait = spread_of(std::move(waits));
  std::ranges::sort(slowdowns);
  for (const double slowdown : slowdowns) figures.slowdown_mean += slowdown;
  figures.slowdown_mean /= static_cast<double>(slowdowns.size());
  figures.slowdown_p99 = percentile(slowdowns, kNearlyAll);
  figures.utilisation =
      static_cast<double>(work) / (static_cast<double>(workload.gpus) * static_cast<double>(figures.makespan));
  figures.preemptions = world.preemption_count();
  figures.restart_gpu_seconds = world.restart_gpu_seconds();
  figures.tenants = tenant_figures(world);
  return figures;
}

}  // namespace berth::sched
