/// The window problem of one GPU, with the tables of its solver and its bounds.
#pragma once

#include <algorithm>
#include <vector>

#include "planner/one_gpu/detail/bundles.h"
#include "planner/one_gpu/detail/rooms.h"
#include "planner/one_gpu/detail/served.h"
#include "planner/window/problem.h"

namespace berth::planner {

struct GpuCase {
  /// Keeps a reference to the problem. Requires: one GPU.
  explicit GpuCase(const Problem& problem);

  /// The end of the window: the first slot after it.
  [[nodiscard]] SlotIndex end() const { return SlotIndex(problem.slots); }
  /// A slot, or the end of the window if that is earlier.
  [[nodiscard]] SlotIndex capped(SlotIndex slot) const { return std::min(slot, end()); }
  /// Whether a change may begin in a slot, by the rules of the problem itself.
  [[nodiscard]] bool can_change(SlotIndex slot) const {
    return slot >= first_slot && (problem.is_frozen.empty() || problem.is_frozen[slot] == 0);
  }
  /// Progress per slot of a retraining on a kind of slice; 0: not possible here, or the model is never stale.
  [[nodiscard]] double progress_rate(ServiceIndex service, KindIndex kind) const {
    return progress_rates[ix(service) * ix(rooms.kinds()) + ix(kind)];
  }
  /// The most that a service serves in a slot at a level after a completed retraining: until the swap the model is
  /// still the stale one, which may be better.
  [[nodiscard]] double value_when_done(ServiceIndex service, LevelIndex level, SlotIndex slot) const {
    const Served& of = served[service];
    const double fresh = of.value(level, true, slot, slot + 1);
    return may_lose_by_swap(service) ? std::max(fresh, of.value(level, false, slot, slot + 1)) : fresh;
  }
  /// Whether a retrained model may be worth more before its swap than after it.
  [[nodiscard]] bool may_lose_by_swap(ServiceIndex service) const { return loses_by_swap[service] != 0; }
  /// Whether pieces with this rate keep the floor of the service.
  [[nodiscard]] bool keeps_floor(ServiceIndex service, double rate) const;

  /// Whether a retraining of the service becomes due in the slots (after, until].
  [[nodiscard]] bool is_due_within(ServiceIndex service, SlotIndex after, SlotIndex until) const;

  /// The most progress in a slot that is not made by a piece of the plan: by other GPUs, and by an existing piece here
  /// although the service retrains elsewhere.
  [[nodiscard]] double outside_progress(ServiceIndex service, SlotIndex slot) const;

  const Problem& problem;
  const ModelTerms& model;
  const GpuTerms& gpu;
  Rooms rooms;
  std::vector<Served> served;           ///< [service]
  std::vector<Bundles> bundles;         ///< [service]
  SlotIndex first_slot = SlotIndex(0);  ///< existing pieces are ready and free from here on; at most problem.slots
  std::vector<int> start_slots;         ///< [service], the least until a serving piece is ready
  int retraining_start_slots = 0;       ///< likewise for a retraining piece
  std::vector<char> loses_by_swap;      ///< [service]
  /// [service] Completing a retraining sooner may lower the worth of a schedule: it lowers an accuracy, unfinished
  /// progress is worth more than a fresh model, or progress is kept when the next retraining is due.
  std::vector<char> loses_by_done;
  std::vector<double> progress_rates;     ///< [service x kinds + kind]
  std::vector<double> standing_progress;  ///< [service], of standing pieces while the service retrains elsewhere
};

/// Seconds rounded half up to slots, as in check.h.
[[nodiscard]] int slots_of_seconds(double seconds);

}  // namespace berth::planner
