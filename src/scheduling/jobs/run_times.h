/// How long the jobs of a pool will still run, as estimated at an instant: from their estimates and the accuracy of
/// those of finished jobs, or from the durations of finished jobs. For questions about a state; no policy decides by
/// it.
#pragma once

#include <optional>
#include <vector>

#include "scheduling/jobs/durations.h"
#include "scheduling/jobs/last_values.h"
#include "scheduling/jobs/simulation.h"
#include "scheduling/jobs/usual_durations.h"

namespace berth::sched {

/// How long jobs ran compared with their estimates.
class EstimateErrors {
 public:
  /// A job with an estimate has finished.
  void finished(const Job& job);
  /// The chance that a job that has run for `done` seconds ends by `by` seconds of running, 0 to 1. With a prior of one
  /// more job, whose estimate holds with a chance of 0.9. Requires: done < by, an estimate.
  [[nodiscard]] double chance_of_end(const Job& job, Seconds done, Seconds by) const;

 private:
  LastValues ratios_{1'000};  ///< duration / estimate
};

/// A value. Follows a run from its beginning.
class RunTimes {
 public:
  RunTimes(const Workload& workload, Policy policy);

  /// To be called after each instant.
  void follow(const Simulation& simulation);

  /// Seconds of progress that a job is expected to take still, at least 1: up to its estimate, or as long again as it
  /// has run if it has outlived that. Without an estimate: the learned median for `berth`, else what `easy` expects,
  /// fixed at submit. Requires: submitted, not finished.
  [[nodiscard]] Seconds remaining(const World& world, JobIndex job);
  /// When a running job is expected to end, if it is not preempted; after now.
  [[nodiscard]] Seconds expected_end(const World& world, JobIndex job);
  /// The chance that a job takes at most `within` more seconds of progress, 0 to 1.
  [[nodiscard]] double chance_of_end(const World& world, JobIndex job, Seconds within);
  /// The chance that a running job has ended by a time, if it is not preempted.
  [[nodiscard]] double chance_of_end_by(const World& world, JobIndex job, Seconds time);

 private:
  const Workload* workload_;
  Policy policy_;
  std::vector<JobIndex> by_submit_;
  std::size_t next_submit_ = 0;
  std::vector<Seconds> usual_;  ///< by job: its duration as expected at its submit, unless `berth` asks
  UsualDurations usual_durations_;
  Durations durations_;
  EstimateErrors errors_;
};

}  // namespace berth::sched
