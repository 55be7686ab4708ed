/// The slots of a window in blocks: the joint bound has values at their boundaries.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// The number of a block, and of the boundary at which it begins; that of the last boundary is the number of blocks.
using BlockIndex = Index<struct BlockTag>;

class JointBlocks {
 public:
  /// No blocks.
  JointBlocks() = default;
  /// From first_slot on, of at most `block_slots` slots. They end where floors begin to bind and where a frozen stretch
  /// begins or ends. Requires: block_slots > 0.
  JointBlocks(const GpuCase& gpu_case, int block_slots);

  /// Of blocks, and the last boundary.
  [[nodiscard]] BlockIndex end() const { return BlockIndex(can_change_.size()); }
  [[nodiscard]] BlockIndex of(SlotIndex slot) const { return block_of_[slot]; }
  /// The slot of a boundary.
  [[nodiscard]] SlotIndex begin_of(BlockIndex boundary) const { return begins_[boundary]; }
  [[nodiscard]] SlotIndex end_of(BlockIndex block) const { return begins_[block + 1]; }
  /// Whether changes may begin in a block; not in what is no block.
  [[nodiscard]] bool can_change(BlockIndex block) const {
    return block >= 0 && block < end() && can_change_[block] != 0;
  }
  /// Changes begin at a boundary, or begin in the block before it and are counted in part at its end.
  [[nodiscard]] bool can_change_at(BlockIndex boundary) const;

  /// A slot between two boundaries; what changes there is counted at both in proportion.
  struct BlockPosition {
    BlockIndex block = BlockIndex(0);
    SlotIndex begin = SlotIndex(0);
    SlotIndex end = SlotIndex(0);
    double share = 0;  ///< of what is counted at the end of the block
  };
  [[nodiscard]] BlockPosition position_of(SlotIndex slot) const;

 private:
  std::vector<BlockIndex> block_of_;  ///< [slot], slots + 1
  std::vector<SlotIndex> begins_;     ///< [block], and the end of the window
  std::vector<char> can_change_;      ///< [block]
};

}  // namespace berth::planner
