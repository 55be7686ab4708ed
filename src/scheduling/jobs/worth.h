/// The worth of running a job now, which gives the order in which `berth` serves jobs.
///
/// Two regimes. Urgent jobs go first: those whose completion would otherwise become too late, compared with their
/// deadline, with a fair share of the pool, or with the end of all other work (a long job that is started last leaves
/// all other GPUs idle at the end). Others go by rank: the expected GPU-seconds to finish a job, divided by an age
/// factor, so that no job waits for ever. docs/reference/scheduling.md has the formulas.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "scheduling/jobs/world.h"

namespace berth::sched {

class Durations;

struct Worth {
  double rank = 0;     ///< lower goes first; GPU-seconds
  double urgency = 0;  ///< from 1 on the job is urgent; higher goes first
  bool is_urgent = false;
  Seconds remaining = 1;  ///< expected, of progress
  Seconds total = 1;      ///< expected, of progress: done so far plus the median remaining
  double loss = 0;        ///< GPU-seconds that preempting it now would cost: restart, progress since the checkpoint
};

/// The worth of each waiting or running job of the workload; not set for others.
class Worths {
 public:
  explicit Worths(const Workload& workload) : worths_(workload.jobs.size()) {}

  /// Computes the worths of all waiting and running jobs at this instant. O(jobs).
  void update(const World& world, Durations& durations, const std::vector<JobIndex>& waiting);

  [[nodiscard]] const Worth& of(JobIndex job) const { return worths_[static_cast<std::size_t>(job)]; }
  /// What puts a job before others, whatever it is worth.
  struct Standing {
    bool is_overdue = false;  ///< it has waited for later ones as long as it may (wait_bound.h)
    bool is_within_guarantee = false;
  };
  /// The least is served first: priority; overdue, the earliest submitted first; within a guarantee, urgency, rank,
  /// submit, row.
  using ServiceKey = std::tuple<std::int64_t, bool, bool, bool, double, Seconds, JobIndex>;
  [[nodiscard]] ServiceKey service_key(const Workload& workload, JobIndex job, const Standing& standing) const;
  /// Whether `a` is preempted rather than `b`: the same the other way round, with what each would lose.
  [[nodiscard]] bool yields_before(const Workload& workload, JobIndex a, JobIndex b) const;

 private:
  void estimate(const World& world, Durations& durations, JobIndex job);
  [[nodiscard]] double urgency(const World& world, JobIndex job, double rest_of_work) const;

  std::vector<Worth> worths_;
};

}  // namespace berth::sched
