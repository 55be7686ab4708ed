/// The costs of changes at a boundary of the joint bound.
///
/// A change may begin between two boundaries. Its cost is a sum over its pieces of functions of its slot; each is at
/// most the straight line between its values at the boundaries plus the largest excess over that line. So a bound
/// computed only at the boundaries is valid.
#pragma once

#include <array>
#include <vector>

#include "planner/one_gpu/detail/joint_blocks.h"
#include "planner/one_gpu/detail/joint_changes.h"
#include "planner/one_gpu/detail/joint_worth.h"

namespace berth::planner {

class JointCosts {
 public:
  using Costs = JointChanges::Costs;

  /// Keeps references.
  JointCosts(const GpuCase& gpu_case, const JointStates& states, const JointWorth& worth, const JointPhases& phases);

  /// Starts again, after the last boundary. Keeps a reference to the blocks. `standing_bundles` [service].
  void start(const JointBlocks& blocks, const std::vector<BundleIndex>& standing_bundles);
  /// Moves to a boundary. Requires: `start`, and one call for each boundary in descending order.
  void go_to(BlockIndex boundary);
  /// The costs at the boundary while the models have these phases; valid until the next call. Requires: changes may
  /// begin there or in the block before.
  [[nodiscard]] const Costs& of(PhasesIndex phases);
  [[nodiscard]] JointChanges::Takeover takeover() const;

  /// Whether a piece that is created one slot earlier is ready no later than one that is handed over, and may be next
  /// to all others by then. Then a service that takes over a slice that does not serve could have created it in its
  /// space one slot earlier, except for the progress made on it in that slot.
  [[nodiscard]] bool is_soon_created() const { return is_soon_created_; }
  /// The least price of a change from a room to each other room, [room].
  [[nodiscard]] const double* price_from(RoomIndex room) const {
    return price_between_.data() + ix(room) * ix(case_.rooms.count());
  }

 private:
  /// The excess over the straight line of pieces that begin between the boundaries of a block, [addition].
  struct Excess {
    std::vector<double> given;
    std::vector<double> created;
    std::vector<double> dropped;
  };
  /// The slots [from, fresh_until) in which a model is surely fresh; pieces begin at the first.
  struct FreshSlots {
    SlotIndex from = SlotIndex(0);
    SlotIndex fresh_until = SlotIndex(0);
  };

  void find_free_kinds(const std::vector<BundleIndex>& standing_bundles);
  void find_price();
  [[nodiscard]] bool find_soon_created() const;
  [[nodiscard]] bool is_created_before() const;
  void make_excess(BlockIndex block, Excess& excess) const;
  void bend(ServiceIndex service, BlockIndex block, int delay, double sign, std::vector<double>& most) const;
  void make_costs();
  void set_costs(ServiceIndex service, bool is_fresh, Costs& costs) const;
  void set_delayed(ServiceIndex service, const FreshSlots& fresh, int delay, std::vector<double>& costs) const;
  [[nodiscard]] SlotIndex next_due(ServiceIndex service, SlotIndex slot) const;

  const GpuCase& case_;
  const JointStates& states_;
  const JointWorth& worth_;
  const JointPhases& phases_;
  const JointBlocks* blocks_ = nullptr;
  BlockIndex boundary_ = BlockIndex(0);
  std::vector<int> created_slots_;       ///< [service], the least until a piece that is created is ready
  std::vector<int> created_slots_most_;  ///< [service], the most, over all kinds of slices
  std::vector<char> is_free_;            ///< [kind], it has standing pieces that no service uses
  bool is_soon_created_ = false;
  double price_ = 0;                   ///< of a piece that is created or dropped if nothing is handed over
  std::vector<double> price_between_;  ///< [room x rooms + room], lower bound
  Excess excess_;                      ///< of the block after the boundary
  Excess excess_before_;               ///< of the block before it
  std::array<Costs, 2> costs_at_;      ///< [is_fresh]
  Costs costs_;                        ///< for the phases of all models
};

}  // namespace berth::planner
