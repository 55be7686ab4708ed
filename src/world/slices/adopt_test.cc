#include "world/slices/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::world {
namespace {

using ::testing::ElementsAre;

Slice slice_at(int start) { return {.gpu = {0}, .start = start, .profile = {0}}; }

SliceMemory remembered(int start, SlicePhase phase, std::uint64_t order) {
  return {.slice = slice_at(start), .phase = phase, .created_as = order + 10, .order = order};
}
SliceMemory foreign(int start, std::uint64_t order) {
  return {.slice = slice_at(start), .phase = SlicePhase::kUp, .is_foreign = true, .order = order};
}

TEST(Adopt, WhatIsRememberedAndExistsIsAsItWas) {
  const DeviceMemory memory{.known_number = 7,
                            .slices = {remembered(0, SlicePhase::kUp, 1), remembered(1, SlicePhase::kDraining, 2)}};
  EXPECT_EQ(adopt(memory, {slice_at(0), slice_at(1)}), memory);
}

TEST(Adopt, WhatIsNotRememberedIsForeign) {
  const DeviceMemory memory{.slices = {remembered(3, SlicePhase::kStarting, 4)}};
  EXPECT_THAT(adopt(memory, {slice_at(0), slice_at(3)}).slices, ElementsAre(memory.slices[0], foreign(0, 5)));
}

TEST(Adopt, WhatDoesNotExistIsGoneUnlessItIsOnItsWay) {
  const DeviceMemory memory{.slices = {remembered(0, SlicePhase::kUp, 0), remembered(1, SlicePhase::kCreating, 1),
                                       remembered(2, SlicePhase::kDestroying, 2),
                                       remembered(3, SlicePhase::kWaitingForRoom, 3), foreign(4, 4)}};
  EXPECT_THAT(adopt(memory, {}).slices, ElementsAre(memory.slices[1], memory.slices[2], memory.slices[3]));
}

TEST(Adopt, ForeignSlicesThatStillExistKeepTheirOrder) {
  const DeviceMemory memory{.slices = {foreign(4, 2), foreign(5, 3)}};
  EXPECT_THAT(adopt(memory, {slice_at(5), slice_at(6)}).slices, ElementsAre(foreign(5, 3), foreign(6, 4)));
}

TEST(Adopt, ASliceInThePlaceOfOneThatWaitsIsForeign) {
  const DeviceMemory memory{.slices = {remembered(0, SlicePhase::kWaitingForRoom, 0)}};
  EXPECT_THAT(adopt(memory, {slice_at(0)}).slices, ElementsAre(memory.slices[0], foreign(0, 1)));
}

TEST(Adopt, AfterARebootNothingThatExistsIsOurs) {
  SliceMemory creating = remembered(1, SlicePhase::kCreating, 1);
  creating.was_ordered = true;
  const DeviceMemory memory{.slices = {remembered(0, SlicePhase::kUp, 0), creating,
                                       remembered(2, SlicePhase::kDestroying, 2), foreign(4, 4)}};
  SliceMemory again = creating;
  again.was_ordered = false;
  EXPECT_THAT(adopt(memory, {slice_at(0)}, false).slices, ElementsAre(again, foreign(0, 5)));
}

TEST(Adopt, AGpuThatIsThereIsNotLost) { EXPECT_FALSE(adopt({.is_lost = true, .slices = {}}, {}).is_lost); }

}  // namespace
}  // namespace berth::world
