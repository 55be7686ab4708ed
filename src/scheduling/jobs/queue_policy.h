/// Policies that decide at every event and never preempt: fifo, skip, sjf, easy. docs/reference/scheduling.md states
/// their rules.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/usual_durations.h"
#include "scheduling/jobs/waiting_jobs.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

class QueuePolicy {
 public:
  /// One of the four.
  QueuePolicy(Policy policy, const Workload& workload);

  void arrived(const World& world, JobIndex job);
  void finished(const World& world, JobIndex job);
  void decide(World& world);

  /// Waiting jobs, in the order in which they are considered.
  [[nodiscard]] std::vector<JobIndex> waiting(const World& /*world*/) const { return waiting_.all(); }
  /// The first waiting job.
  [[nodiscard]] std::optional<JobIndex> first() const { return waiting_.first(); }
  /// As World::rebase.
  void rebase(const Workload& workload);
  /// To be called when priorities have changed.
  void reorder();

 private:
  void start(World& world, JobIndex job);
  void start_while_first_fits(World& world);
  void backfill(World& world);

  Policy policy_;
  const Workload* workload_;
  WaitingJobs waiting_;
  std::vector<Seconds> estimates_;  ///< by job, from its submit on; only for `easy`
  UsualDurations usual_durations_;  ///< only for `easy`
};

}  // namespace berth::sched
