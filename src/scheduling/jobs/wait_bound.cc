#include "scheduling/jobs/wait_bound.h"

#include <algorithm>
#include <limits>

namespace berth::sched {

void WaitBounds::submitted(const World& world, JobIndex index) {
  constexpr int kTurns = 4;
  const Job& job = world.workload().job(index);
  longest_ = std::max(longest_, job.estimate.value_or(0));
  for (const JobIndex running : world.running()) longest_ = std::max(longest_, world.progress(running));
  const GpuCount gpus = world.workload().gpus;
  const Int128 turns = Int128(kTurns) * longest_ * (gpus + world.asked_gpus());  // its own are among them
  const Int128 bound = job.submit + (turns + gpus - 1) / gpus;
  bounds_[static_cast<std::size_t>(index)] =
      static_cast<Seconds>(std::min<Int128>(bound, std::numeric_limits<Seconds>::max()));
}

void WaitBounds::stopped(const World& world, JobIndex job) { longest_ = std::max(longest_, world.progress(job)); }

}  // namespace berth::sched
