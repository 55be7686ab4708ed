/// Slices change their holder for a range of slots, mostly to retrain: best responses of whole GPUs, which hold a
/// retraining from one change to another, do not find that.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/state.h"
#include "fleet/terms.h"

namespace berth::planner::fleet {

class Lending {
 public:
  explicit Lending(const Terms& terms) : terms_(&terms) {}

  /// As long as that gains, one piece of a GPU is lent to the retraining of a service from one of its due slots, from
  /// the end of another retraining, or at once; until it is done, or to the end; or a piece that retrains is given to a
  /// service when it is done. Returns the gain in score. O(pieces x services x slots) schedules are tried in a round.
  double improve(FleetState& state, GpuIndex gpu);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// `piece` instead of a stay's for some slots.
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
  std::vector<std::vector<SlotIndex>> done_slots_;  ///< [service]: in which a retraining is done
  std::vector<std::vector<char>> is_fresh_;         ///< [service][slot]; empty without retraining
  std::int64_t nodes_ = 0;
};

}  // namespace berth::planner::fleet
