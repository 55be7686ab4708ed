#include "planner/window/carry.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "planner/window/check.h"

namespace berth::planner {
namespace {

/// The changes of one GPU, `slots` earlier. Of several overdue changes only the last one is made, now.
std::vector<Change> earlier(const std::vector<Change>& changes, int by) {
  std::vector<Change> moved;
  moved.reserve(changes.size());
  for (const Change& change : changes) {
    const SlotIndex slot = std::max(SlotIndex(0), change.slot - by);
    if (slot == 0) moved.clear();
    moved.push_back({.slot = slot, .to = change.to});
  }
  return moved;
}

bool holds(const GpuTerms& gpu, const Configuration& pieces) {
  return std::ranges::equal(gpu.standing, pieces, {}, &StandingPiece::piece);
}

}  // namespace

Schedule carried_over(const Problem& now, const Schedule& last, int slots_later) {
  Schedule carried{.gpus = std::vector<std::vector<Change>>(now.gpus.size())};
  if (last.gpus.size() != now.gpus.size()) return {};
  bool is_empty = true;
  for (std::size_t gpu = 0; gpu < now.gpus.size(); ++gpu) {
    std::vector<Change> changes = earlier(last.gpus[gpu], slots_later);
    if (!changes.empty() && holds(now.gpus[gpu], changes.front().to)) changes.erase(changes.begin());
    is_empty = is_empty && changes.empty();
    carried.gpus[gpu] = std::move(changes);
  }
  if (is_empty) return {};
  if (!find_fault(now, carried)) return carried;
  Schedule sound{.gpus = std::vector<std::vector<Change>>(now.gpus.size())};
  for (std::size_t gpu = 0; gpu < now.gpus.size(); ++gpu) {
    if (carried.gpus[gpu].empty()) continue;
    std::swap(sound.gpus[gpu], carried.gpus[gpu]);
    if (find_fault(now, sound)) sound.gpus[gpu].clear();
  }
  return sound;
}

}  // namespace berth::planner
