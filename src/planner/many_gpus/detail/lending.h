/// Lends slices for a range of slots, mostly to retrainings. Best responses of whole GPUs do not find such loans,
/// because they keep a retraining on a slice from one change to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

class Lending {
 public:
  explicit Lending(const Terms& terms) : terms_(&terms) {}

  /// While the score improves, lends one piece of a GPU to the retraining of a service (from a due slot, from the end
  /// of another retraining, or at once; until the retraining is done, or to the end), or gives a retraining piece to a
  /// service once the retraining is done. Returns the gain in score. O(pieces x services x slots) schedules per round.
  double improve(FleetState& state, GpuIndex gpu);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// `piece` replaces the stay's piece for some slots.
  struct Loan {
    Piece piece;
    SlotIndex from;
    SlotIndex until;
  };

  void note_freshness(const FleetState& state);
  [[nodiscard]] std::vector<SlotIndex> begins_of(GpuIndex gpu, const Path& path, const Stay& stay,
                                                 ServiceIndex service) const;
  [[nodiscard]] std::vector<Loan> loans_of(GpuIndex gpu, const Path& path, const Stay& stay) const;
  void add_retraining(GpuIndex gpu, const Path& path, const Stay& stay, ServiceIndex service,
                      std::vector<Loan>& loans) const;
  void add_serving(GpuIndex gpu, const Path& path, const Stay& stay, ServiceIndex service,
                   std::vector<Loan>& loans) const;
  [[nodiscard]] SlotIndex done_slot(const Stay& stay, ModelIndex model, SlotIndex from) const;
  bool improve_once(FleetState& state, GpuIndex gpu);

  const Terms* terms_;
  std::vector<std::vector<SlotIndex>> done_slots_;  ///< [service]: slots in which a retraining is completed
  std::vector<std::vector<char>> is_fresh_;         ///< [service][slot]; empty without retraining
  std::int64_t nodes_ = 0;
};

}  // namespace berth::planner::fleet
