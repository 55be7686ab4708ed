#include "planner/many_gpus/prune.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "planner/many_gpus/state.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

bool changes_now(const std::vector<Change>& changes) { return !changes.empty() && changes.front().slot == 0; }

/// The current schedule of the fleet, with the gain of each GPU's changes given those of the others.
class Pruning {
 public:
  Pruning(const Problem& problem, Schedule& schedule) : terms_(problem), state_(terms_), schedule_(schedule) {
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      const std::vector<Change>& changes = schedule_.gpus[fleet::idx(gpu)];
      if (changes.empty()) continue;
      state_.take_out(gpu);
      state_.put(gpu, fleet::make_path(terms_, gpu, changes));
      if (changes_now(changes)) candidates_.push_back(gpu);
    }
  }

  /// Removes changes that gain nothing, given the changes left at that point. Returns whether there were any.
  bool run_round() {
    std::vector<std::pair<double, GpuIndex>> by_gain;
    by_gain.reserve(candidates_.size());
    for (const GpuIndex gpu : candidates_) by_gain.emplace_back(gain_of(gpu), gpu);
    std::ranges::sort(by_gain);
    std::vector<GpuIndex> kept;
    for (const auto& each : by_gain) {
      if (gain_of(each.second) >= 0) {
        kept.push_back(each.second);
        continue;
      }
      schedule_.gpus[fleet::idx(each.second)].clear();
      state_.take_out(each.second);
      state_.put(each.second, stay_of(each.second));
    }
    std::swap(candidates_, kept);
    return candidates_.size() < kept.size();
  }

  /// Begins the changes of a GPU later if that loses too little. Returns whether there were any.
  bool postpone(const Postponement& postponement) {
    std::vector<GpuIndex> kept;
    for (const GpuIndex gpu : candidates_) {
      std::vector<Change> later = later_by(schedule_.gpus[fleet::idx(gpu)], postponement.wait_slots);
      const double now = state_.score();
      fleet::Path path = state_.path(gpu);
      state_.take_out(gpu);
      const double then = state_.score_with(gpu, fleet::make_path(terms_, gpu, later));
      if (now - then >= postponement.loss_min) {
        state_.put(gpu, std::move(path));
        kept.push_back(gpu);
        continue;
      }
      state_.put(gpu, fleet::make_path(terms_, gpu, later));
      schedule_.gpus[fleet::idx(gpu)] = std::move(later);
    }
    std::swap(candidates_, kept);
    return candidates_.size() < kept.size();
  }

  /// The gains of all GPUs that still change in slot 0.
  [[nodiscard]] std::vector<double> gains() {
    std::vector<double> gains(schedule_.gpus.size());
    for (const GpuIndex gpu : candidates_) gains[fleet::idx(gpu)] = gain_of(gpu);
    return gains;
  }

 private:
  /// The changes `wait` slots later, without those that would begin in the tail.
  [[nodiscard]] std::vector<Change> later_by(const std::vector<Change>& changes, int wait) const {
    std::vector<Change> later;
    for (const Change& change : changes) {
      const SlotIndex slot(change.slot + wait);
      if (slot < terms_.problem.slots) later.push_back({.slot = slot, .to = change.to});
    }
    return later;
  }

  [[nodiscard]] fleet::Path stay_of(GpuIndex gpu) const { return fleet::make_path(terms_, gpu, {}); }

  double gain_of(GpuIndex gpu) {
    const double with = state_.score();
    fleet::Path path = state_.path(gpu);
    state_.take_out(gpu);
    const double without = state_.score_with(gpu, stay_of(gpu));
    state_.put(gpu, std::move(path));
    return with - without;
  }

  fleet::Terms terms_;
  fleet::FleetState state_;
  Schedule& schedule_;
  std::vector<GpuIndex> candidates_;  ///< GPUs that change in slot 0
};

}  // namespace

Pruned without_low_value_changes(const Problem& problem, Answer answer) {
  Pruned pruned{.answer = std::move(answer), .gains = std::vector<double>(problem.gpus.size())};
  if (std::ranges::none_of(pruned.answer.schedule.gpus, changes_now)) return pruned;
  Pruning pruning(problem, pruned.answer.schedule);
  bool has_left_out = false;
  while (pruning.run_round()) has_left_out = true;
  if (has_left_out) pruned.answer.objective = evaluate(problem, pruned.answer.schedule).objective;
  pruned.gains = pruning.gains();
  return pruned;
}

Pruned with_changes_postponed(const Problem& problem, Pruned pruned, const Postponement& postponement) {
  ENSURE(postponement.wait_slots > 0);
  Schedule schedule = pruned.answer.schedule;
  if (std::ranges::none_of(schedule.gpus, changes_now)) return pruned;
  Pruning pruning(problem, schedule);
  if (!pruning.postpone(postponement) || find_fault(problem, schedule)) return pruned;
  pruned.gains = pruning.gains();
  pruned.answer.objective = evaluate(problem, schedule).objective;
  pruned.answer.schedule = std::move(schedule);
  return pruned;
}

}  // namespace berth::planner
