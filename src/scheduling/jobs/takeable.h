/// The running jobs of an instant in the order in which waiting ones may take their GPUs: a waiting job may preempt the
/// first of them, up to some position.
///
/// Ordered by priority; within a priority first those that are not urgent, by rank minus loss, descending, then the
/// urgent ones, the least urgent first, then those that only a higher priority may preempt.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/jobs/worth.h"

namespace berth::sched {

class TakeableJobs {
 public:
  struct Entry {
    JobIndex job;
    std::int64_t priority = 0;
    bool is_protected = false;
    Worth worth = {};
    GpuCount gpus_up_to = 0;  ///< of this job and those before it
  };
  /// The job that wants GPUs.
  struct Taker {
    std::int64_t priority = 0;
    Worth worth = {};
    bool is_patient = false;  ///< has waited long enough to preempt for its rank
  };

  /// `is_protected`: only jobs of higher priority may take its GPUs. Requires: before for_taker().
  void add(const Workload& workload, JobIndex job, const Worth& worth, bool is_protected);

  /// The jobs that a job may preempt, ignoring the tree of tenants and which jobs it took GPUs from before. O(log n),
  /// or O(1) if there are none; O(n log n) the first time that there may be some.
  [[nodiscard]] std::span<const Entry> for_taker(const Workload& workload, const Taker& taker);

  /// Whether a job may take a running job's GPUs by their worth. Requires: equal priorities.
  [[nodiscard]] static bool may_take(const Taker& taker, const Worth& victim);
  /// Whether a job's rank is low enough for that once it has waited long enough.
  [[nodiscard]] static bool outranks(const Worth& own, const Worth& victim);

 private:
  void sort(const Workload& workload);

  std::vector<Entry> entries_;
  bool is_sorted_ = false;
  std::int64_t priority_min_ = std::numeric_limits<std::int64_t>::max();
  double excess_max_ = std::numeric_limits<double>::lowest();  ///< the largest rank minus loss of those not protected
};

}  // namespace berth::sched
