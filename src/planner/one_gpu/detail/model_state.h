/// The state of a service's retraining at the beginning of a slot: stale, progress, swap.
#pragma once

#include <algorithm>

#include "planner/window/problem.h"

namespace berth::planner {

struct ModelState {
  bool is_stale = false;
  bool is_done = false;                 ///< its swap is in progress
  SlotIndex fresh_from = SlotIndex(0);  ///< while it is done
  double progress = 0;
  friend bool operator==(const ModelState&, const ModelState&) = default;

  /// Whether progress would still count.
  [[nodiscard]] bool is_open() const { return is_stale && !is_done; }
};

/// The state before slot 0 begins.
[[nodiscard]] inline ModelState first_state(const RetrainingTerms& terms) {
  return {.is_stale = terms.is_stale,
          .is_done = terms.fresh_in > 0,
          .fresh_from = SlotIndex(terms.fresh_in),
          .progress = terms.progress};
}

/// The beginning of a slot: applies due times, completions and swaps, in this order.
inline void enter_slot(const RetrainingTerms& terms, SlotIndex slot, ModelState& state) {
  if (std::ranges::binary_search(terms.due_slots, slot)) {
    if (!terms.keeps_unfinished || !state.is_open()) state.progress = 0;
    state.is_stale = true;
    state.is_done = false;
  }
  if (state.is_open() && state.progress >= kDone) {
    state.is_done = true;
    state.fresh_from = slot + terms.swap_slots;
  }
  if (state.is_done && state.fresh_from <= slot) {
    state.is_done = false;
    state.is_stale = false;
  }
}

}  // namespace berth::planner
