#include "scheduling/jobs/slot.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::sched {
namespace {

/// When enough GPUs are free according to the expected ends.
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

/// The chances of sums of GPUs, ascending; sums of at least the maximum count as the maximum.
class FreedGpus {
 public:
  explicit FreedGpus(GpuCount most) : most_(most), chances_{{0, 1.0}} {}

  /// Adds a job that has ended with some chance. O(sums).
  void add(GpuCount gpus, double chance) {
    std::vector<Sum> sums;
    sums.reserve(2 * chances_.size());
    // Two ascending lists are merged: without the job, and with it.
    for (std::size_t without = 0, with = 0; without < chances_.size() || with < chances_.size();) {
      const GpuCount moved = with < chances_.size() ? std::min(chances_[with].gpus + gpus, most_) : most_ + 1;
      const bool is_without = without < chances_.size() && chances_[without].gpus <= moved;
      const Sum next = is_without ? Sum{chances_[without].gpus, chances_[without].chance * (1 - chance)}
                                  : Sum{moved, chances_[with].chance * chance};
      ++(is_without ? without : with);
      if (!sums.empty() && sums.back().gpus == next.gpus) {
        sums.back().chance += next.chance;
      } else {
        sums.push_back(next);
      }
    }
    if (sums.size() > kSumsMax) join_pairs(sums);
    chances_ = std::move(sums);
  }

  [[nodiscard]] double chance_of_most() const {
    return chances_.back().gpus == most_ ? std::min(1.0, chances_.back().chance) : 0;
  }

 private:
  struct Sum {
    GpuCount gpus = 0;
    double chance = 0;
  };

  /// The maximum is not joined.
  static void join_pairs(std::vector<Sum>& sums) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < sums.size(); i += 2) {
      const bool is_pair = i + 2 < sums.size();
      sums[kept++] = {sums[i].gpus, sums[i].chance + (is_pair ? sums[i + 1].chance : 0)};
      if (!is_pair) sums[kept++] = sums[i + 1];
    }
    if (sums.size() % 2 == 1) sums[kept++] = sums.back();
    sums.resize(kept);
  }

  static constexpr std::size_t kSumsMax = 65'536;

  GpuCount most_;
  std::vector<Sum> chances_;
};

/// The chance that enough GPUs are free at a time.
double chance_of_room(const World& world, RunTimes& run_times, GpuCount gpus, Seconds time) {
  const GpuCount missing = gpus - world.free_gpus();
  if (missing <= 0) return 1;
  FreedGpus freed(missing);
  for (const JobIndex job : world.running()) {
    freed.add(world.workload().job(job).gpus, run_times.chance_of_end_by(world, job, time));
  }
  return freed.chance_of_most();
}

}  // namespace

std::optional<Slot> find_slot(const World& world, RunTimes run_times, const SlotWish& wish) {
  const std::optional<Seconds> start = expected_start(world, run_times, wish.gpus);
  if (!start || (wish.before && *start + wish.length > *wish.before)) return std::nullopt;
  return Slot{.start = *start, .confidence = chance_of_room(world, run_times, wish.gpus, *start)};
}

}  // namespace berth::sched
