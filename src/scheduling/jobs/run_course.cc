#include "scheduling/jobs/run_course.h"

#include <algorithm>
#include <tuple>

namespace berth::sched {
namespace {

/// The children of each tenant, by index; the last entry has those at the top.
std::vector<std::vector<TenantIndex>> children_of(const Workload& workload) {
  std::vector<std::vector<TenantIndex>> children(workload.tenants.size() + 1);
  for (const TenantIndex tenant : indices_of<TenantIndex>(workload.tenants)) {
    const auto parent = workload.tenant(tenant).parent;
    children[parent ? static_cast<std::size_t>(*parent) : workload.tenants.size()].push_back(tenant);
  }
  return children;
}

/// The tenants with jobs that have the most work.
std::vector<TenantIndex> largest_tenants(const Workload& workload) {
  std::vector<Int128> work(workload.tenants.size());
  for (const Job& job : workload.jobs) work[static_cast<std::size_t>(job.tenant)] += Int128(job.gpus) * job.duration;
  std::vector<TenantIndex> largest;
  for (const TenantIndex tenant : indices_of<TenantIndex>(work)) {
    if (work[static_cast<std::size_t>(tenant)] > 0) largest.push_back(tenant);
  }
  std::ranges::sort(largest, [&](TenantIndex a, TenantIndex b) {
    return std::tuple(-work[static_cast<std::size_t>(a)], a) < std::tuple(-work[static_cast<std::size_t>(b)], b);
  });
  largest.resize(std::min(largest.size(), kCourseTenantsMax));
  return largest;
}

void join_pairs(CourseSeries& series) {
  std::vector<Int128>& sums = series.integrals;
  const std::size_t joined = (sums.size() + 1) / 2;
  for (std::size_t i = 0; i < joined; ++i) {
    sums[i] = sums[2 * i] + (2 * i + 1 < sums.size() ? sums[2 * i + 1] : 0);
  }
  sums.resize(joined);
}

}  // namespace

std::vector<FollowedTenant> tenants_to_follow(const Workload& workload) {
  std::vector<bool> is_followed(workload.tenants.size());
  std::vector<bool> is_group(workload.tenants.size());
  std::size_t groups = 0;
  for (const TenantIndex tenant : largest_tenants(workload)) {
    is_followed[static_cast<std::size_t>(tenant)] = true;
    for_each_ancestor(workload, tenant, [&](TenantIndex at) {
      if (is_followed[static_cast<std::size_t>(at)] || groups == kCourseTenantsMax) return;
      is_followed[static_cast<std::size_t>(at)] = is_group[static_cast<std::size_t>(at)] = true;
      ++groups;
    });
  }
  const auto children = children_of(workload);
  std::vector<FollowedTenant> followed;
  std::vector<FollowedTenant> open;  // the last one is visited next
  const auto enter = [&](std::size_t of, std::size_t depth) {
    for (auto child = children[of].rbegin(); child != children[of].rend(); ++child) {
      open.push_back({.tenant = *child, .depth = depth, .is_group = is_group[static_cast<std::size_t>(*child)]});
    }
  };
  enter(workload.tenants.size(), 0);
  while (!open.empty()) {
    const FollowedTenant at = open.back();
    open.pop_back();
    if (is_followed[static_cast<std::size_t>(at.tenant)]) followed.push_back(at);
    enter(static_cast<std::size_t>(at.tenant), at.depth + 1);
  }
  return followed;
}

RunCourse::RunCourse(const Workload& workload, Policy policy)
    : workload_(&workload), policy_(policy), tenants_(tenants_to_follow(workload)), uses_(tenants_.size()) {
  waits_.reserve(workload.jobs.size());
  has_runs_ = workload.jobs.size() <= kCourseJobsMax;
  if (has_runs_) last_run_.assign(workload.jobs.size(), 0);
}

void RunCourse::widen(Seconds now) {
  while (now > width_ * kCourseColumnsMax) {
    for (CourseSeries* series : {&queued_jobs_, &queued_gpus_, &used_gpus_}) join_pairs(*series);
    for (CourseSeries& series : uses_) join_pairs(series);
    width_ *= 2;
  }
}

/// The old value holds until now.
void RunCourse::change(CourseSeries& series, std::int64_t value, Seconds now) const {
  if (value == series.value) return;
  if (series.value != 0 && now > series.since) {
    const auto columns = static_cast<std::size_t>((now + width_ - 1) / width_);
    if (series.integrals.size() < columns) series.integrals.resize(columns);
    for (Seconds from = series.since; from < now;) {
      const Seconds column = from / width_;
      const Seconds until = std::min(now, (column + 1) * width_);
      series.integrals[static_cast<std::size_t>(column)] += Int128(series.value) * (until - from);
      from = until;
    }
  }
  series.value = value;
  series.since = now;
}

void RunCourse::add(const Simulation& simulation) {
  const World& world = simulation.world();
  const Seconds now = world.now();
  end_ = now;
  widen(now);
  const GpuCount used = workload_->gpus - world.free_gpus();
  change(queued_jobs_, world.unfinished_count() - std::ssize(world.running()), now);
  change(queued_gpus_, world.asked_gpus() - used, now);
  change(used_gpus_, used, now);
  if (simulation.log().empty()) return;
  for (std::size_t place = 0; place < tenants_.size(); ++place) {
    change(uses_[place], world.use_of(tenants_[place].tenant), now);
  }
  follow(simulation);
}

void RunCourse::follow(const Simulation& simulation) {
  for (const LogEntry& entry : simulation.log()) {
    if (entry.type == LogType::kFinish) {
      waits_.push_back(*simulation.world().record(entry.job).first_start - workload_->job(entry.job).submit);
    }
    if (has_runs_) follow_job(entry, simulation.world().record(entry.job));
  }
}

void RunCourse::follow_job(const LogEntry& entry, const JobRecord& record) {
  std::size_t& last = last_run_[static_cast<std::size_t>(entry.job)];
  if (entry.type == LogType::kStart) {
    last = runs_.size();
    runs_.push_back({.job = entry.job, .start = entry.time, .end = entry.time, .is_restart = record.preemptions > 0});
    has_runs_ = runs_.size() <= kCourseRunsMax;
    if (!has_runs_) runs_ = {};
  } else if (last < runs_.size() && runs_[last].job == entry.job) {
    runs_[last].end = entry.time;
    runs_[last].is_preempted = entry.type == LogType::kPreempt;
  }
}

std::size_t RunCourse::columns() const {
  return static_cast<std::size_t>(std::max<Seconds>(1, (end_ + width_ - 1) / width_));
}

double RunCourse::mean(const CourseSeries& series, std::size_t column) const {
  if (column >= series.integrals.size()) return 0;
  const Seconds from = static_cast<Seconds>(column) * width_;
  const Seconds until = std::min(from + width_, end_);
  return static_cast<double>(series.integrals[column]) / static_cast<double>(until - from);
}

double RunCourse::mean(const CourseSeries& series) const {
  Int128 sum = 0;
  for (const Int128 integral : series.integrals) sum += integral;
  return static_cast<double>(sum) / static_cast<double>(std::max<Seconds>(1, end_));
}

}  // namespace berth::sched
