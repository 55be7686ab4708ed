#include "scheduling/jobs/eta.h"

#include <algorithm>

#include "scheduling/jobs/moment.h"

namespace berth::sched {
namespace {

// If all jobs have estimates, and for policies without start estimates: the future without further arrivals. Else the
// start estimates learned from earlier waits.

/// A run into the future ends without an answer after this many instants, or when the unfinished jobs of its instants
/// add up to kJobsMax.
constexpr std::int64_t kInstantsMax = 20'000;
constexpr std::int64_t kJobsMax = 20'000'000;
constexpr double kLateShare = 0.9;
/// Longer than any run time that matters: about 17 years.
constexpr Seconds kLongest = Seconds(1) << 29;

/// The seconds of progress within which a job ends with a chance of nine in ten.
Seconds late_remaining(RunTimes& run_times, const World& world, JobIndex job) {
  Seconds too_short = 0;
  Seconds enough = kLongest;
  while (enough - too_short > 1) {
    const Seconds middle = too_short + (enough - too_short) / 2;
    (run_times.chance_of_end(world, job, middle) >= kLateShare ? enough : too_short) = middle;
  }
  return std::max(enough, run_times.remaining(world, job));
}

/// The workload with the expected durations.
Workload expected_workload(const Moment& moment, bool is_late) {
  const World& world = moment.after.world();
  Workload workload = world.workload();
  if (has_hindsight(moment.after.name())) return workload;
  RunTimes run_times = moment.run_times;
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) {
    const JobState state = world.record(job).state;
    if (state != JobState::kWaiting && state != JobState::kRunning) continue;
    const Seconds left = is_late ? late_remaining(run_times, world, job) : run_times.remaining(world, job);
    workload.jobs[static_cast<std::size_t>(job)].duration = world.progress(job) + left;
  }
  return workload;
}

struct Start {
  Seconds time = 0;
  bool is_reached = false;  ///< if not: it starts later
};

/// When the job starts if durations are as expected and no other job arrives.
Start start_in(const Moment& moment, JobIndex job, bool is_late) {
  const Workload workload = expected_workload(moment, is_late);
  Simulation run = moment.after;
  run.rebase(workload);
  run.stop_arrivals();
  std::int64_t jobs_looked_at = 0;
  for (std::int64_t i = 0; i < kInstantsMax && jobs_looked_at < kJobsMax && !run.world().is_running(job); ++i) {
    const auto next = run.next_instant();
    if (!next) break;
    run.begin(*next);
    jobs_looked_at += run.world().unfinished_count();
    run.decide();
  }
  return {.time = run.world().now(), .is_reached = run.world().is_running(job)};
}

/// Nothing if a run into the future ends before the job starts: waits learned from a shorter queue are even less
/// informative.
std::optional<Eta> simulated_eta(const Moment& moment, JobIndex job) {
  const Start expected = start_in(moment, job, false);
  if (!expected.is_reached) return std::nullopt;
  const Start late = has_hindsight(moment.after.name()) ? expected : start_in(moment, job, true);
  if (!late.is_reached) return std::nullopt;
  return Eta{
      .p50 = expected.time, .p90 = std::max(expected.time, late.time), .method = "simulated without further arrivals"};
}

Eta learned_eta(const Moment& moment, JobIndex job) {
  const StartEstimate start = moment.start_estimates->of_waiting(moment.after, job);
  return Eta{.p50 = start.p50, .p90 = start.p90, .method = "from the queue and earlier waits"};
}

}  // namespace

std::optional<Eta> eta_of(const Moment& moment, JobIndex job) {
  const JobRecord& record = moment.after.world().record(job);
  if (record.state == JobState::kNotSubmitted) return std::nullopt;
  if (record.state != JobState::kWaiting) {
    return Eta{.p50 = *record.first_start, .p90 = *record.first_start, .method = "started"};
  }
  const bool is_learned = moment.start_estimates && !moment.start_estimates->are_all_estimated();
  return is_learned ? learned_eta(moment, job) : simulated_eta(moment, job);
}

}  // namespace berth::sched
