#include "planner/one_gpu/detail/local_search.h"

#include <cstddef>
#include <optional>

#include "planner/one_gpu/detail/search_state.h"

namespace berth::planner {
namespace {

constexpr int kRoundsMax = 8;

}  // namespace

bool LocalSearch::offer(const std::vector<Change>& changes) {
  state_.budget.count(1);
  const double value = value_of(changes);
  if (!state_.incumbent.is_beaten_by(value)) return false;
  state_.incumbent.replace(value, changes);
  return true;
}

void LocalSearch::improve() {
  if (!state_.incumbent.has_schedule()) return;
  for (int round = 0; round < kRoundsMax; ++round) {
    bool is_better = false;
    for (std::size_t i = 0; i < state_.incumbent.changes().size(); ++i) {
      is_better = improve_change(i) || is_better;
    }
    if (!is_better) break;
  }
}

/// Tries a change earlier, later, and not at all.
bool LocalSearch::improve_change(std::size_t number) {
  const auto is_there = [&] { return number < state_.incumbent.changes().size(); };
  bool is_better = false;
  for (const int shift : {16, -16, 8, -8, 4, -4, 2, -2, 1, -1}) {
    if (!is_there()) break;
    std::vector<Change> changes = state_.incumbent.changes();
    SlotIndex& slot = changes[number].slot;
    slot += shift;
    if (slot < state_.gpu_case.first_slot || slot >= state_.gpu_case.end()) continue;
    is_better = offer(changes) || is_better;
  }
  if (!is_there()) return is_better;
  std::vector<Change> changes = state_.incumbent.changes();
  changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(number));
  return offer(changes) || is_better;
}

/// kNever if the schedule is not allowed.
double LocalSearch::value_of(const std::vector<Change>& changes) {
  const Labels::Mark before = state_.labels.mark();
  const double value = value_after_root(changes);
  state_.labels.undo(before);
  return value;
}

double LocalSearch::value_after_root(const std::vector<Change>& changes) {
  const GpuCase& gpu_case = state_.gpu_case;
  Labels& labels = state_.labels;
  Label label = labels.root();
  if (label.value == kNever) return kNever;
  SlotIndex t = gpu_case.first_slot;
  const auto goes_on_until = [&](SlotIndex end) {
    if (!labels.may_stay(label, t, end)) return false;
    label = labels.stay(label, t, end);
    t = end;
    return true;
  };
  SlotIndex last(-1);
  for (const Change& change : changes) {
    const ArrangementIndex to = state_.arrangements.number_of(change.to);
    const bool fits = change.slot >= t && change.slot > last && gpu_case.can_change(change.slot);
    if (!fits || to == label.arrangement || !goes_on_until(change.slot)) return kNever;
    const std::optional<Label> child = labels.change(label, to, t);
    if (!child) return kNever;
    label = *child;
    last = change.slot;
    t = label.ready;
  }
  if (!goes_on_until(gpu_case.end())) return kNever;
  return label.value + labels.tail_of(label);
}

}  // namespace berth::planner
