#include "live/session/observed_slices.h"

#include <gtest/gtest.h>

namespace berth::live {
namespace {

const Slice kA{.gpu = {0}, .start = 0, .profile = {1}};
const Slice kB{.gpu = {0}, .start = 4, .profile = {1}};

StandingSlice standing(const Slice& slice, std::uint64_t generation, bool is_ready) {
  return {.holding = {.slice = slice, .services = {}}, .is_ready = is_ready, .generation = generation};
}

TEST(ObservedSlices, SlicesOfOthersComeAndGo) {
  Snapshot before;
  const GpuObserved with{.gpu = {0}, .slices = {{.slice = kA, .is_foreign = true}}};
  const GpuObserved without{.gpu = {0}, .slices = {}};
  EXPECT_EQ(news_of(before, {}, with), (std::vector<SliceNews>{{.kind = EventKind::kSliceForeign, .slice = kA}}));
  before.slices = {standing(kA, 0, true)};
  before.slices.change(0).is_foreign = true;
  EXPECT_TRUE(news_of(before, {}, with).empty());
  EXPECT_EQ(news_of(before, {}, without), (std::vector<SliceNews>{{.kind = EventKind::kSliceGone, .slice = kA}}));
}

TEST(ObservedSlices, OursAreMissingIfTheyWereReadyOrTheirDestructionFailed) {
  Snapshot before;
  before.slices = {standing(kA, 1, true), standing(kB, 2, false)};
  before.slices.change(0).holding.services = {{3}};
  const GpuObserved nothing{.gpu = {0}, .slices = {}};
  EXPECT_EQ(news_of(before, {}, nothing),
            (std::vector<SliceNews>{
                {.kind = EventKind::kSliceMissing, .slice = kA, .generation = 1, .holder = ServiceId{3}}}));
  const ActionFailed failed{.kind = ActionKind::kDestruction, .slice = kB, .generation = 2, .message = ""};
  EXPECT_EQ(news_of(before, {failed}, nothing).size(), 2U);
  const GpuObserved elsewhere{.gpu = {1}, .slices = {}};
  EXPECT_TRUE(news_of(before, {failed}, elsewhere).empty());
}

}  // namespace
}  // namespace berth::live
