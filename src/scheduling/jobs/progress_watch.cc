#include "scheduling/jobs/progress_watch.h"

#include <utility>

namespace berth::sched {

bool ProgressWatch::is_stuck(const World& world) {
  Int128 progress = world.stopped_progress();
  for (const JobIndex job : world.running()) progress += Int128(world.progress(job) - world.record(job).progress);
  const bool has_preempted = std::exchange(preemptions_, world.preemption_count()) != world.preemption_count();
  if (progress > most_ || world.unfinished_count() == 0) {
    most_ = progress;
    instants_ = preempting_instants_ = 0;
    return false;
  }
  preempting_instants_ += has_preempted ? 1 : 0;
  return ++instants_ > kInstantsMax && preempting_instants_ > kPreemptingInstantsMax;
}

}  // namespace berth::sched
