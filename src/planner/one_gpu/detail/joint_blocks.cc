#include "planner/one_gpu/detail/joint_blocks.h"

#include "base/core/ensure.h"

namespace berth::planner {

JointBlocks::JointBlocks(const GpuCase& gpu_case, int block_slots) {
  ENSURE(block_slots > 0);
  block_of_.assign(ix(gpu_case.problem.slots) + 1, BlockIndex(0));
  for (SlotIndex t = gpu_case.first_slot; t < gpu_case.end(); ++t) {
    const char can = gpu_case.can_change(t) ? 1 : 0;
    const bool is_next = begins_.empty() || t - begins_.back() >= block_slots || t == gpu_case.problem.floors_from ||
                         can != can_change_.back();
    if (is_next) {
      begins_.push_back(t);
      can_change_.push_back(can);
    }
    block_of_[t] = end() - 1;
  }
  block_of_.back() = end();
  begins_.push_back(gpu_case.end());
}

bool JointBlocks::can_change_at(BlockIndex boundary) const {
  const bool is_long = boundary > 0 && begins_[boundary] - begins_[boundary - 1] > 1;
  return can_change(boundary) || (is_long && can_change(boundary - 1));
}

/// A change within a block is counted at both boundaries, in proportion to its position.
JointBlocks::BlockPosition JointBlocks::position_of(SlotIndex slot) const {
  const BlockIndex block = block_of_[slot];
  const SlotIndex begin = begins_[block];
  if (slot == begin) return {.block = block, .begin = begin, .end = begin, .share = 0};
  const SlotIndex end = begins_[block + 1];
  const double share = can_change(block) ? static_cast<double>(slot - begin) / (end - begin) : 1;
  return {.block = block, .begin = begin, .end = end, .share = share};
}

}  // namespace berth::planner
