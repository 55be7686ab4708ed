#include "sched/slot.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::sched {
namespace {

/// When by the expected ends so many GPUs are free.
std::optional<Seconds> expected_start(const World& world, RunTimes& run_times, GpuCount gpus) {
  std::vector<std::pair<Seconds, GpuCount>> ends;
  ends.reserve(world.running().size());
  for (const JobIndex job : world.running()) {
    ends.emplace_back(run_times.expected_end(world, job), world.workload().job(job).gpus);
  }
  std::ranges::sort(ends);
  GpuCount free = world.free_gpus();
  if (free >= gpus) return world.now();
  for (const auto& [end, freed] : ends) {
    free += freed;
    if (free >= gpus) return end;
  }
  return std::nullopt;
}

/// The chance that so many GPUs are free at a time.
double chance_of_room(const World& world, RunTimes& run_times, GpuCount gpus, Seconds time) {
  const GpuCount missing = gpus - world.free_gpus();
  if (missing <= 0) return 1;
  // The chance that so many GPUs have been freed, the last one: at least so many.
  std::vector<double> freed(static_cast<std::size_t>(missing) + 1);
  freed[0] = 1;
  for (const JobIndex job : world.running()) {
    const double chance = run_times.chance_of_end_by(world, job, time);
    const auto more = static_cast<std::size_t>(world.workload().job(job).gpus);
    for (std::size_t i = freed.size(); i > 0; --i) {
      const std::size_t from = i - 1;
      if (from + 1 == freed.size()) continue;
      const double moved = freed[from] * chance;
      freed[from] -= moved;
      freed[std::min(from + more, freed.size() - 1)] += moved;
    }
  }
  return std::min(1.0, freed.back());
}

}  // namespace

std::optional<Slot> find_slot(const World& world, RunTimes run_times, const SlotWish& wish) {
  const std::optional<Seconds> start = expected_start(world, run_times, wish.gpus);
  if (!start || (wish.before && *start + wish.length > *wish.before)) return std::nullopt;
  return Slot{.start = *start, .confidence = chance_of_room(world, run_times, wish.gpus, *start)};
}

}  // namespace berth::sched
