#include "scheduling/jobs/worth.h"

#include <algorithm>

#include "scheduling/jobs/durations.h"

namespace berth::sched {
namespace {

/// How much waiting, in expected durations, lowers a rank.
constexpr double kAgeing = 0.1;
constexpr double kShortestWeighed = 60;
/// A job is urgent if this many times its remaining time reaches the least time that all work needs.
constexpr double kTail = 1.1;
/// A job is urgent if its completion is this many times that on a fair share.
constexpr double kUnfairness = 1.7;
/// A job is urgent if the time to its deadline is at most this many times its remaining time.
constexpr double kDeadlineSlack = 1.25;
/// A running job's urgency is multiplied by this, so that it stays urgent a little longer.
constexpr double kUrgencyKept = 1.05;

/// Seconds that a job has spent without progress.
Seconds waited(const World& world, JobIndex job) {
  return std::max<Seconds>(0, world.now() - world.workload().job(job).submit - world.progress(job));
}

}  // namespace

void Worths::estimate(const World& world, Durations& durations, JobIndex index) {
  const Job& job = world.workload().job(index);
  Worth& worth = worths_[static_cast<std::size_t>(index)];
  const Seconds done = world.progress(index);
  double cost = 0;
  Seconds median = 1;
  if (job.estimate) {
    // A job that outlives its estimate is expected to run as long again.
    worth.remaining = done < *job.estimate ? *job.estimate - done : done;
    median = worth.remaining;
    cost = static_cast<double>(worth.remaining);
  } else {
    const Remaining learned = durations.remaining(world, index);
    worth.remaining = learned.mean;
    median = learned.median;
    cost = learned.cost;
  }
  worth.total = done + median;
  const double age = 1 + kAgeing * static_cast<double>(waited(world, index)) / (cost + kShortestWeighed);
  worth.rank = cost * static_cast<double>(job.gpus) / age;
  const Seconds lost = world.terms().restart + done - world.kept_progress(index);
  worth.loss = static_cast<double>(job.gpus) * static_cast<double>(lost);
}

double Worths::urgency(const World& world, JobIndex index, double rest_of_work) const {
  const Job& job = world.workload().job(index);
  const Worth& worth = of(index);
  const Seconds left = worth.total - world.progress(index);
  double urgency = 0;
  if (job.estimate) {
    urgency = kTail * static_cast<double>(worth.remaining) / rest_of_work;
    // Finish-time fairness, as it will be if the job runs from now on.
    const auto completion = static_cast<double>(world.now() - job.submit + left);
    const Int128 asked_so_far = world.asked_gpu_seconds() - world.record(index).asked_at_submit;
    const double asked = static_cast<double>(asked_so_far) +
                         std::min(static_cast<double>(left), rest_of_work) * static_cast<double>(world.asked_gpus());
    const double crowd = std::max(1.0, asked / static_cast<double>(world.workload().gpus) / completion);
    const double rho = completion / (std::max(static_cast<double>(worth.total), kShortestWeighed) * crowd);
    urgency = std::max(urgency, rho / kUnfairness);
  }
  if (job.deadline) {
    const Seconds time = *job.deadline - world.now();
    const bool can_be_met = time > 0 && time >= left;
    if (can_be_met) {
      urgency = std::max(
          urgency, kDeadlineSlack * static_cast<double>(left + world.terms().restart) / static_cast<double>(time));
    }
  }
  return urgency;
}

void Worths::update(const World& world, Durations& durations, const std::vector<JobIndex>& waiting) {
  double work = 0;
  Seconds longest = 0;
  const auto for_each_job = [&](const auto& visit) {
    for (const JobIndex job : waiting) visit(job);
    for (const JobIndex job : world.running()) visit(job);
  };
  for_each_job([&](JobIndex index) {
    estimate(world, durations, index);
    const Job& job = world.workload().job(index);
    work += static_cast<double>(of(index).remaining) * static_cast<double>(job.gpus);
    if (job.estimate) longest = std::max(longest, of(index).remaining);
  });
  const double rest_of_work = std::max(work / static_cast<double>(world.workload().gpus), static_cast<double>(longest));
  for_each_job([&](JobIndex job) {
    Worth& worth = worths_[static_cast<std::size_t>(job)];
    worth.urgency = urgency(world, job, rest_of_work);
    worth.is_urgent = worth.urgency * (world.is_running(job) ? kUrgencyKept : 1) >= 1;
  });
}

Worths::ServiceKey Worths::service_key(const Workload& workload, JobIndex index, const Standing& standing) const {
  const Job& job = workload.job(index);
  if (standing.is_overdue) return {-job.priority, false, false, false, 0, job.submit, index};
  const Worth& worth = of(index);
  const double key = worth.is_urgent ? -worth.urgency : worth.rank;
  return {-job.priority, true, !standing.is_within_guarantee, !worth.is_urgent, key, job.submit, index};
}

bool Worths::yields_before(const Workload& workload, JobIndex a, JobIndex b) const {
  const Job& first = workload.job(a);
  const Job& second = workload.job(b);
  if (first.priority != second.priority) return first.priority < second.priority;
  const Worth& left = of(a);
  const Worth& right = of(b);
  if (left.is_urgent != right.is_urgent) return !left.is_urgent;
  if (left.is_urgent && left.urgency != right.urgency) return left.urgency < right.urgency;
  if (!left.is_urgent && left.rank - left.loss != right.rank - right.loss)
    return left.rank - left.loss > right.rank - right.loss;
  return std::pair(first.submit, a) > std::pair(second.submit, b);
}

}  // namespace berth::sched
