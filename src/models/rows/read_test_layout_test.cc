#include "models/rows/read_test_layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "domain/ports/testing/memory_tree.h"
#include "models/onnx/testing/message_bytes.h"

namespace berth::models {
namespace {

using berth::testing::MemoryTree;
using berth::testing::tensor_bytes;
using Sizes = std::vector<std::int64_t>;

constexpr std::uint64_t kUint8 = 2;  // of TensorProto.DataType

/// The file of a tensor of bytes.
std::string tensor_file(const Sizes& dims, const std::string& bytes) {
  return tensor_bytes(dims, kUint8).text(9, bytes).bytes();
}

const std::vector<TensorSignature> kTwoBytes = {{.name = "x", .type = TensorType::kUint8, .shape = {-1, 2}},
                                                {.name = "n", .type = TensorType::kUint8, .shape = {-1}}};

TEST(ReadTestLayout, JoinsTheRowsOfAllSets) {
  MemoryTree tree;
  tree.write("d/model.onnx", "", {});
  tree.write("d/test_data_set_10/input_0.pb", tensor_file({1, 2}, "eE"), {});
  tree.write("d/test_data_set_10/input_1.pb", tensor_file({1}, "5"), {});
  tree.write("d/test_data_set_2/input_0.pb", tensor_file({3, 2}, "aAbBcC"), {});
  tree.write("d/test_data_set_2/input_1.pb", tensor_file({3}, "123"), {});
  tree.write("d/test_data_set_2/output_0.pb", "not read", {});
  const auto rows = read_test_layout(tree, "d", kTwoBytes);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->count, 4U);
  EXPECT_EQ(rows->inputs[0], (Tensor{.name = "x", .type = TensorType::kUint8, .shape = {4, 2}, .bytes = "aAbBcCeE"}));
  EXPECT_EQ(rows->inputs[1].bytes, "1235");
  EXPECT_TRUE(rows->labels.empty());
  const auto one = read_test_layout(tree, "d/test_data_set_2", kTwoBytes);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->count, 3U);
}

TEST(ReadTestLayout, SetsWithoutACommonFirstDimensionAreRuns) {
  const std::vector<TensorSignature> inputs = {{.name = "x", .type = TensorType::kUint8, .shape = {-1, 2}},
                                               {.name = "state", .type = TensorType::kUint8, .shape = {2, -1}},
                                               {.name = "rate", .type = TensorType::kUint8}};
  MemoryTree tree;
  for (const std::string set : {"d/test_data_set_0/", "d/test_data_set_1/"}) {
    tree.write(set + "input_0.pb", tensor_file({1, 2}, "aA"), {});
    tree.write(set + "input_1.pb", tensor_file({2, 1}, "sS"), {});
    tree.write(set + "input_2.pb", tensor_file({}, "r"), {});
  }
  const auto rows = read_test_layout(tree, "d", inputs);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(rows->rows_are_runs);
  EXPECT_EQ(rows->count, 2U);
  EXPECT_EQ(rows->inputs[1].shape, (Sizes{2, 2, 1}));
  EXPECT_EQ(rows->shared.size(), 1U);
  tree.write("d/test_data_set_1/input_2.pb", tensor_file({}, "R"), {});
  const auto each = read_test_layout(tree, "d", inputs);
  ASSERT_TRUE(each) << each.error().message;
  EXPECT_EQ(each->inputs.size(), 3U);
  EXPECT_EQ(each->inputs[2].bytes, "rR");
}

TEST(ReadTestLayout, NamesWhatIsWrong) {
  MemoryTree tree;
  const auto message = [&] {
    const auto rows = read_test_layout(tree, "d", kTwoBytes);
    return rows ? "no error" : rows.error().message;
  };
  EXPECT_NE(message(), "no error");
  tree.make_folder("d");
  EXPECT_EQ(message(), "d: wanted the files input_0.pb to input_1.pb, one for each input of the model, found none");
  tree.write("d/test_data_set_0/input_0.pb", tensor_file({1, 2}, "aA"), {});
  tree.write("d/test_data_set_0/input_2.pb", tensor_file({1}, "1"), {});
  EXPECT_NE(message().find("one for each input of the model, found 2"), std::string::npos) << message();
  tree.remove("d/test_data_set_0/input_2.pb");
  tree.write("d/test_data_set_0/input_1.pb", tensor_file({1}, "1").substr(0, 5), {});
  EXPECT_NE(message().find("d/test_data_set_0/input_1.pb: "), std::string::npos) << message();
  tree.write("d/test_data_set_0/input_1.pb", tensor_file({1}, "1"), {});
  EXPECT_EQ(message(), "no error");
  tree.write("d/test_data_set_1/input_0.pb", tensor_file({1, 3}, "aAa"), {});
  tree.write("d/test_data_set_1/input_1.pb", tensor_file({1}, "1"), {});
  EXPECT_EQ(message(), "d: input_0.pb: wanted one type and shape in all sets, found several");
  EXPECT_FALSE(read_test_layout(tree, "d", {}));
}

}  // namespace
}  // namespace berth::models
