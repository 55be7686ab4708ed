/// How long jobs of a tenant and size usually run: what `easy` expects of a job without an estimate.
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
  /// Twice the lower median of the latest 100 that finished of its tenant and size; a day where fewer than 3 have.
  [[nodiscard]] Seconds of(const Job& job) const;

 private:
  std::map<std::pair<TenantIndex, GpuCount>, std::deque<Seconds>> finished_;  ///< the latest, the last at the end
};

}  // namespace berth::sched
