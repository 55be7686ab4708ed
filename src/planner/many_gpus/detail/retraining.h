/// The worth of retraining a service for a range of slots.
#pragma once

#include <vector>

#include "planner/many_gpus/space.h"
#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// The worth of a service by its freshness, at the capacity that it has in a state. Exact if nothing else retrains the
/// service after the piece in question.
class RetrainingWorth {
 public:
  /// Requires: the service has retraining.
  RetrainingWorth(const Terms& terms, const FleetState& state, ServiceIndex service);

  /// The gain of the service from a piece that is ready at `ready` and makes progress `rate` per slot, by the point of
  /// the grid until which it exists, [width].
  [[nodiscard]] std::vector<double> until_points(const Grid& grid, SlotIndex ready, double rate) const;
  /// Pieces on sites of a kind that takes `slots_on`.
  void fill_table(const Grid& grid, double slots_on, PieceTable& table) const;

 private:
  struct ModelState {
    bool is_stale = false;
    bool is_done = false;
    double progress = 0;
    SlotIndex fresh_from;
  };
  void begin_slot(SlotIndex slot, ModelState& model) const;
  [[nodiscard]] double left_alone(SlotIndex slot, ModelState model) const;
  [[nodiscard]] double of_slot(SlotIndex slot, const ModelState& model) const;
  [[nodiscard]] double of_tail(const ModelState& model) const;

  const Terms* terms_;
  ServiceIndex service_;
  std::vector<char> is_due_;         ///< [slot]
  std::vector<SlotIndex> next_due_;  ///< [slot]: the first after it, or the tail
  std::vector<double> stale_;        ///< worth before each slot, [slots + 1]
  std::vector<double> fresh_;
  double tail_stale_ = 0;           ///< of the whole tail
  double tail_fresh_ = 0;           ///< of a tail that begins fresh
  std::vector<double> progress_;    ///< [slot] without the piece
  std::vector<ModelState> models_;  ///< [slot], before it begins, without the piece
  std::vector<double> before_;      ///< worth before each slot, without the piece
  double alone_ = 0;                ///< worth of the service without the piece
};

}  // namespace berth::planner::fleet
