#include "planner/one_gpu/detail/joint_blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

std::vector<int> begins_of(const JointBlocks& blocks) {
  std::vector<int> begins;
  for (const BlockIndex block : Indices<BlockIndex>(static_cast<int>(blocks.end()))) {
    begins.push_back(blocks.begin_of(block));
  }
  return begins;
}

TEST(JointBlocks, AreOfTheLengthThatIsWanted) {
  const Problem problem = testing::quarters_problem(1, 10);
  const GpuCase gpu_case(problem);
  EXPECT_EQ(begins_of(JointBlocks(gpu_case, 4)), (std::vector{0, 4, 8}));
  EXPECT_EQ(JointBlocks(gpu_case, 1).end(), 10);
}

TEST(JointBlocks, BeginWhereChangesMayBeginAndWhereFloorsBind) {
  Problem problem = testing::quarters_problem(1, 12);
  problem.gpus.front().free_from = SlotIndex(1);
  problem.floors_from = SlotIndex(3);
  problem.is_frozen.assign(12, 0);
  problem.is_frozen[6] = problem.is_frozen[7] = 1;
  const GpuCase gpu_case(problem);
  const JointBlocks blocks(gpu_case, 4);
  EXPECT_EQ(begins_of(blocks), (std::vector{1, 3, 6, 8}));
  EXPECT_EQ(blocks.end_of(BlockIndex(3)), 12);
  EXPECT_EQ(blocks.of(SlotIndex(7)), BlockIndex(2));
  EXPECT_EQ(blocks.of(SlotIndex(12)), blocks.end());
  EXPECT_FALSE(blocks.can_change(BlockIndex(2)));
  EXPECT_TRUE(blocks.can_change(BlockIndex(3)));
  EXPECT_FALSE(blocks.can_change(BlockIndex(-1)));
  EXPECT_FALSE(blocks.can_change(blocks.end()));
}

/// A change in a long block is counted in part at its end.
TEST(JointBlocks, AreChangedAtBothBoundaries) {
  Problem problem = testing::quarters_problem(1, 6);
  problem.is_frozen = {0, 0, 1, 1, 0, 1};
  const GpuCase gpu_case(problem);
  const JointBlocks blocks(gpu_case, 4);
  ASSERT_EQ(begins_of(blocks), (std::vector{0, 2, 4, 5}));
  EXPECT_TRUE(blocks.can_change_at(BlockIndex(0)));
  EXPECT_TRUE(blocks.can_change_at(BlockIndex(1))) << "the block before has two slots";
  EXPECT_TRUE(blocks.can_change_at(BlockIndex(2)));
  EXPECT_FALSE(blocks.can_change_at(BlockIndex(3))) << "the block before has one slot";
  EXPECT_FALSE(blocks.can_change_at(blocks.end()));
}

TEST(JointBlocks, KnowHowFarASlotIsInItsBlock) {
  Problem problem = testing::quarters_problem(1, 6);
  problem.is_frozen = {0, 0, 0, 0, 1, 1};
  const GpuCase gpu_case(problem);
  const JointBlocks blocks(gpu_case, 4);
  EXPECT_DOUBLE_EQ(blocks.position_of(SlotIndex(0)).share, 0);
  EXPECT_DOUBLE_EQ(blocks.position_of(SlotIndex(1)).share, 0.25);
  EXPECT_DOUBLE_EQ(blocks.position_of(SlotIndex(3)).share, 0.75);
  EXPECT_DOUBLE_EQ(blocks.position_of(SlotIndex(4)).share, 0);
  EXPECT_DOUBLE_EQ(blocks.position_of(SlotIndex(5)).share, 1) << "nothing changes in a frozen block";
  EXPECT_EQ(blocks.position_of(SlotIndex(5)).block, BlockIndex(1));
}

}  // namespace
}  // namespace berth::planner
