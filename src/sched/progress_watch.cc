#include "sched/progress_watch.h"

namespace berth::sched {

bool ProgressWatch::is_stuck(const World& world) {
  Int128 progress = world.stopped_progress();
  for (const JobIndex job : world.running()) progress += Int128(world.progress(job) - world.record(job).progress);
  if (progress > most_ || world.unfinished_count() == 0) {
    most_ = progress;
    instants_ = 0;
    return false;
  }
  return ++instants_ > kInstantsMax;
}

}  // namespace berth::sched
