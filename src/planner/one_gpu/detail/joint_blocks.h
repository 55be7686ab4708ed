/// The slots of a window in blocks: the joint bound has values at their boundaries.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// The index of a block, and of the boundary at which it begins; the last boundary's index is the number of blocks.
using BlockIndex = Index<struct BlockTag>;

class JointBlocks {
 public:
  /// No blocks.
  JointBlocks() = default;
  /// Blocks from first_slot on, of at most `block_slots` slots. They also end where floors begin to bind and where a
  /// frozen range begins or ends. Requires: block_slots > 0.
  JointBlocks(const GpuCase& gpu_case, int block_slots);

  /// The end of the blocks, which is the last boundary.
  [[nodiscard]] BlockIndex end() const { return BlockIndex(can_change_.size()); }
  [[nodiscard]] BlockIndex of(SlotIndex slot) const { return block_of_[slot]; }
  /// The slot of a boundary.
  [[nodiscard]] SlotIndex begin_of(BlockIndex boundary) const { return begins_[boundary]; }
  [[nodiscard]] SlotIndex end_of(BlockIndex block) const { return begins_[block + 1]; }
  /// Whether changes may begin in a block; false for an index that is not a block.
  [[nodiscard]] bool can_change(BlockIndex block) const {
    return block >= 0 && block < end() && can_change_[block] != 0;
  }
  /// Whether changes may begin at a boundary, or in the block before it, where they are counted in part at its end.
  [[nodiscard]] bool can_change_at(BlockIndex boundary) const;

  /// A slot between two boundaries; changes there are counted at both in proportion.
  struct BlockPosition {
    BlockIndex block = BlockIndex(0);
    SlotIndex begin = SlotIndex(0);
    SlotIndex end = SlotIndex(0);
    double share = 0;  ///< the part that is counted at the end of the block
  };
  [[nodiscard]] BlockPosition position_of(SlotIndex slot) const;

 private:
  std::vector<BlockIndex> block_of_;  ///< [slot], slots + 1
  std::vector<SlotIndex> begins_;     ///< [block], and the end of the window
  std::vector<char> can_change_;      ///< [block]
};

}  // namespace berth::planner
