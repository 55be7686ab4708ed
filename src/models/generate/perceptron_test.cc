#include "models/generate/perceptron.h"

#include <gtest/gtest.h>

#include "domain/ports/file_tree.h"
#include "models/onnx_file/onnx_file.h"

namespace berth::models {
namespace {

TEST(Perceptron, IsWhatItsWidthsSay) {
  const std::string bytes = perceptron({3, 50, 2}, Rng(1));
  const auto file = read_onnx_file(*file_over(bytes), "p");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->inputs.size(), 1U);
  EXPECT_EQ(file->inputs.front(), (OnnxTensor{.name = "x", .shape = std::vector<std::int64_t>{-1, 3}}));
  ASSERT_EQ(file->outputs.size(), 1U);
  EXPECT_EQ(file->outputs.front(), (OnnxTensor{.name = "y", .shape = std::vector<std::int64_t>{-1, 2}}));
  EXPECT_EQ(file->weight_bytes, 4 * (3 * 50 + 50 * 2));
  EXPECT_TRUE(has_any_rows(*file));
}

TEST(Perceptron, IsDrawnFromItsSeed) {
  EXPECT_EQ(perceptron({3, 2}, Rng(1)), perceptron({3, 2}, Rng(1)));
  EXPECT_NE(perceptron({3, 2}, Rng(1)), perceptron({3, 2}, Rng(2)));
}

}  // namespace
}  // namespace berth::models
