#include "models/fuse/pads.h"

#include <gtest/gtest.h>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Attributes;
using testing::Int64s;
using testing::Names;
using testing::SmallModel;

/// The padding of the Conv behind a Pad; empty: it stays.
Int64s merged(const Int64s& pads, Attributes pad_attributes, Attributes conv_attributes, float value = 0) {
  SmallModel small;
  small.input("x", {-1, 1, 8, 8}).weight("w", floats({1, 1, 3, 3}, std::vector<float>(9, 1)));
  small.weight("p", int64s({std::ssize(pads)}, pads)).weight("v", floats({}, {value}));
  small.node("Pad", {"x", "p", "v"}, {"a"}, std::move(pad_attributes))
      .node("Conv", {"a", "w"}, {"y"}, std::move(conv_attributes))
      .output("y");
  if (!small.apply(pad_in_conv)) return {};
  EXPECT_EQ(small.ops(), Names{"Conv"});
  return attribute_or(small.first("Conv"), "pads", Int64s{});
}

TEST(PadInConv, AddsUp) {
  EXPECT_EQ(merged({0, 0, 1, 2, 0, 0, 3, 4}, {}, {}), (Int64s{1, 2, 3, 4}));
  EXPECT_EQ(merged({0, 0, 1, 2, 0, 0, 3, 4}, {}, {{"pads", Int64s{1, 1, 1, 1}}}), (Int64s{2, 3, 4, 5}));
  EXPECT_EQ(merged({0, 0, 1, 1, 0, 0, 1, 1}, {}, {{"auto_pad", std::string("VALID")}}), (Int64s{1, 1, 1, 1}));
}

TEST(PadInConv, OtherPaddingStays) {
  EXPECT_EQ(merged({0, 1, 0, 0, 0, 0, 0, 0}, {}, {}), Int64s{}) << "channels";
  EXPECT_EQ(merged({0, 0, -1, 0, 0, 0, 0, 0}, {}, {}), Int64s{}) << "takes away";
  EXPECT_EQ(merged({0, 0, 1, 1, 0, 0, 1, 1}, {}, {}, 1), Int64s{}) << "with ones";
  EXPECT_EQ(merged({0, 0, 1, 1, 0, 0, 1, 1}, {{"mode", std::string("reflect")}}, {}), Int64s{});
  EXPECT_EQ(merged({0, 0, 1, 1, 0, 0, 1, 1}, {}, {{"auto_pad", std::string("SAME_UPPER")}}), Int64s{});
}

}  // namespace
}  // namespace berth::models
