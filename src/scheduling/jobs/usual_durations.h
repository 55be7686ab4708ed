/// How long jobs of a tenant and size usually run: the expectation of `easy` for a job without an estimate.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "scheduling/jobs/workload.h"

namespace berth::sched {

class UsualDurations {
 public:
  /// A job has finished.
  void finished(const Job& job);
  /// Twice the lower median of the latest 100 finished jobs of its tenant and size; a day if fewer than 3 have
  /// finished.
  [[nodiscard]] Seconds of(const Job& job) const;

 private:
  std::map<std::pair<TenantIndex, GpuCount>, std::deque<Seconds>> finished_;  ///< the latest ones, in order of time
};

}  // namespace berth::sched
