/// Moves changes in time by a few slots; only those slots are evaluated again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

class Timing {
 public:
  explicit Timing(const Terms& terms) : terms_(&terms) {}

  /// Moves each change of a GPU to the best of some slots around it, while that gains. Changes with retraining are not
  /// moved. Returns the gain in score.
  double improve(FleetState& state, GpuIndex gpu);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// Additional capacity of a service in some slots.
  struct Shift {
    ServiceIndex service;
    int use = 0;
    SlotIndex from;
    SlotIndex until;
    double rate = 0;
    bool is_for_floor = false;  ///< counts for the floor, else as capacity
  };

  bool begin(const FleetState& state, GpuIndex gpu, std::size_t change);
  void add_shifts(int by);
  void add(const Stay& stay, SlotIndex from, SlotIndex until, double sign, bool is_for_floor);
  [[nodiscard]] double gain_of_shifts(const FleetState& state);
  [[nodiscard]] double gain_of_capacity(const FleetState& state, std::size_t from, std::size_t until);
  [[nodiscard]] double gain_of_floor(const FleetState& state, std::size_t from, std::size_t until) const;

  const Terms* terms_;
  std::int64_t nodes_ = 0;
  ModelIndex model_;
  SlotIndex slot_;
  std::vector<Stay> begun_;  ///< by the change being moved
  std::vector<Stay> ended_;
  std::vector<Shift> shifts_;
  std::vector<double> capacity_;
};

}  // namespace berth::planner::fleet
