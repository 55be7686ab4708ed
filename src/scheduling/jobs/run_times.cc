#include "scheduling/jobs/run_times.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::sched {
namespace {

constexpr double kFirstTrust = 0.9;

/// When a running job makes progress: at the end of its restart.
Seconds works_from(const World& world, JobIndex job) {
  const JobRecord& record = world.record(job);
  return std::max(world.now(), record.started + (record.is_restart ? world.terms().restart : 0));
}

}  // namespace

void EstimateErrors::finished(const Job& job) {
  ratios_.add(static_cast<double>(job.duration) / static_cast<double>(*job.estimate));
}

double EstimateErrors::chance_of_end(const Job& job, Seconds done, Seconds by) const {
  ENSURE(job.estimate.has_value());
  const auto estimate = static_cast<double>(*job.estimate);
  const double from = static_cast<double>(done) / estimate;
  const double to = static_cast<double>(by) / estimate;
  const std::vector<double>& sorted = ratios_.sorted();
  const auto reached = std::ranges::upper_bound(sorted, from);
  const auto ended = std::ranges::upper_bound(reached, sorted.end(), to);
  const double first = by >= *job.estimate ? kFirstTrust : 1 - kFirstTrust;
  return (first + static_cast<double>(ended - reached)) / (1 + static_cast<double>(sorted.end() - reached));
}

RunTimes::RunTimes(const Workload& workload, Policy policy)
    : workload_(&workload), policy_(policy), by_submit_(jobs_by_submit(workload)), usual_(workload.jobs.size()) {}

void RunTimes::follow(const Simulation& simulation) {
  for (const LogEntry& entry : simulation.log()) {
    if (entry.type != LogType::kFinish) continue;
    const Job& job = workload_->job(entry.job);
    if (job.estimate) {
      errors_.finished(job);
    } else {
      durations_.finished(*workload_, entry.job);
    }
    usual_durations_.finished(job);
  }
  for (; next_submit_ < by_submit_.size(); ++next_submit_) {
    const JobIndex index = by_submit_[next_submit_];
    const Job& job = workload_->job(index);
    if (job.submit > simulation.world().now()) break;
    if (job.estimate) continue;
    durations_.submitted(*workload_, index);
    usual_[static_cast<std::size_t>(index)] = usual_durations_.of(job);
  }
}

Seconds RunTimes::remaining(const World& world, JobIndex index) {
  const Job& job = workload_->job(index);
  if (!job.estimate && policy_ == Policy::kBerth) return durations_.remaining(world, index).median;
  const Seconds estimate = job.estimate.value_or(usual_[static_cast<std::size_t>(index)]);
  const Seconds done = world.progress(index);
  return done < estimate ? estimate - done : std::max<Seconds>(1, done);
}

Seconds RunTimes::expected_end(const World& world, JobIndex job) {
  return works_from(world, job) + remaining(world, job);
}

double RunTimes::chance_of_end(const World& world, JobIndex index, Seconds within) {
  const Job& job = workload_->job(index);
  if (within <= 0) return 0;
  if (!job.estimate) return durations_.chance_of_end(world, index, within);
  const Seconds done = world.progress(index);
  return errors_.chance_of_end(job, done, done + within);
}

double RunTimes::chance_of_end_by(const World& world, JobIndex job, Seconds time) {
  return chance_of_end(world, job, time - works_from(world, job));
}

}  // namespace berth::sched
