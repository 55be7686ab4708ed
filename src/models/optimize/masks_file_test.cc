#include "models/optimize/masks_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/rows/read_npz.h"

namespace berth::models {
namespace {

TEST(MasksFile, IsReadByTheReaderOfArchives) {
  const std::vector<ChannelMask> masks = {{.weight = "conv1.weight", .axis = 0, .kept = {true, false, true}},
                                          {.weight = "conv2.weight", .axis = 1, .kept = {false, true}}};
  const std::string bytes = write_masks(masks);
  const auto read = read_npz(bytes, "masks.npz");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].name, "conv1.weight:0");
  EXPECT_EQ((*read)[0].type, TensorType::kBool);
  EXPECT_EQ((*read)[0].shape, (std::vector<std::int64_t>{3}));
  EXPECT_EQ((*read)[0].bytes, std::string("\x01\x00\x01", 3));
  EXPECT_EQ((*read)[1].name, "conv2.weight:1");
  EXPECT_EQ((*read)[1].bytes, std::string("\x00\x01", 2));
  EXPECT_EQ(write_masks(masks), bytes);
}

}  // namespace
}  // namespace berth::models
