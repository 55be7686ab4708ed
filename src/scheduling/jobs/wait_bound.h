/// How long `berth` may make a job wait for jobs that were submitted after it.
#pragma once

#include <vector>

#include "scheduling/jobs/world.h"

namespace berth::sched {

/// From its bound on, a job is overdue: no job that was submitted later, with the same or a lower priority, starts
/// before it or preempts it (BerthPolicy has the exceptions). With N GPUs,
///
///   bound = submit + 4 x longest x (N + GPUs ahead + its GPUs) / N, rounded up,
///
/// where the GPUs ahead are those of unfinished jobs that were submitted before it, and the longest is what is known
/// when it is submitted: the most progress that a job has made, the largest estimate of a job submitted so far, its own
/// included, and 600 s. What arrives later does not change it.
class WaitBounds {
 public:
  explicit WaitBounds(const Workload& workload) : bounds_(workload.jobs.size()) {}

  /// To be called when a job is submitted. O(running).
  void submitted(const World& world, JobIndex job);
  /// To be called when a job has finished or was preempted.
  void stopped(const World& world, JobIndex job);

  [[nodiscard]] Seconds of(JobIndex job) const { return bounds_[static_cast<std::size_t>(job)]; }
  [[nodiscard]] bool is_overdue(const World& world, JobIndex job) const { return world.now() >= of(job); }

 private:
  static constexpr Seconds kLongestMin = 600;

  std::vector<Seconds> bounds_;  ///< by job
  Seconds longest_ = kLongestMin;
};

}  // namespace berth::sched
