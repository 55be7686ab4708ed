/// Berth's own policy for a pool: preemptive, at any instant; tenants lend GPUs that they do not need and get them
/// back.
///
/// It serves jobs by worth (worth.h), as far as GPUs are free, within the limits of the tenants, those that fit into
/// their tenant's unused guarantee first. A job for which too few are free takes those of running jobs that are worth
/// much less, after some patience, or of less urgent ones, or of lower priority. A job that has waited very long keeps
/// what falls free for itself, and others only run beside it; one that is overdue (wait_bound.h) goes before all that
/// were submitted later. When a tenant has waited for its guarantee for the time
/// that it may have to, borrowers give it back. It knows estimates where jobs have them, and learns the others
/// (durations.h); never durations of jobs at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/jobs/durations.h"
#include "scheduling/jobs/wait_bound.h"
#include "scheduling/jobs/world.h"
#include "scheduling/jobs/worth.h"

namespace berth::sched {

class BerthPolicy {
 public:
  explicit BerthPolicy(const Workload& workload);

  void arrived(const World& world, JobIndex job);
  void finished(const World& world, JobIndex job);
  /// O(w log w + r) without preemption, w jobs waiting, r running.
  void decide(World& world);
  /// When it must decide again, even if nothing happens; nothing while no job waits.
  [[nodiscard]] std::optional<Seconds> wake(const World& world) const;

  /// Waiting jobs, in the order in which they would be served now.
  [[nodiscard]] std::vector<JobIndex> waiting(const World& world) const;
  /// Waiting jobs, in the order of service at the latest decision. O(1).
  [[nodiscard]] const std::vector<JobIndex>& order() const { return order_; }
  /// When a waiting job, once it has been patient, is expected to take GPUs from running ones at the latest; nothing if
  /// the jobs that have to yield to it do not suffice for it and for the `gpus_ahead` of jobs served earlier.
  /// O(running).
  [[nodiscard]] std::optional<Seconds> latest_start(const World& world, JobIndex job, GpuCount gpus_ahead) const;
  /// The worths at the latest decision at which any job waited.
  [[nodiscard]] const Worths& worths() const { return worths_; }
  /// As World::rebase.
  void rebase(const Workload& workload) { workload_ = &workload; }
  /// To be called when priorities have changed: they are read at each decision.
  void reorder() {}

 private:
  /// Seconds between decisions while nothing happens.
  [[nodiscard]] Seconds decision_step(const World& world) const;

  friend class BerthInstant;
  /// Which job took a job's GPUs last, and that job's progress then: it must have made more progress before it loses
  /// them back.
  struct Taken {
    std::optional<JobIndex> by = std::nullopt;
    Seconds progress = 0;
  };

  const Workload* workload_;
  Durations durations_;
  Worths worths_;
  WaitBounds bounds_;
  std::vector<JobIndex> waiting_;
  std::vector<JobIndex> order_;                 ///< of the latest decision; those that still wait
  std::vector<Taken> taken_;                    ///< by job
  std::vector<std::optional<Seconds>> claims_;  ///< by tenant: since when it has waited for GPUs within its guarantee
  std::optional<Seconds> appointment_;          ///< the next instant at which something falls due
};

}  // namespace berth::sched
