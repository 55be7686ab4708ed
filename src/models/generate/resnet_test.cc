#include "models/generate/resnet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "models/graph/graph_edit.h"
#include "models/onnx/check_model.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

std::ptrdiff_t count_of_op(const Model& model, std::string_view op) {
  return std::ranges::count(model.graph.nodes, op, &Node::op);
}

std::int64_t weight_count(const Model& model) {
  std::int64_t count = 0;
  for (const auto& [name, constant] : model.graph.initializers) count += models::count_of(constant->dims);
  return count;
}

TEST(ResNet, HasTheShapeOfResNet50) {
  const Model model = resnet({.width = 8}, Rng(1));
  EXPECT_TRUE(check_names(model.graph));
  EXPECT_EQ(count_of_op(model, "Conv"), 53);
  EXPECT_EQ(count_of_op(model, "BatchNormalization"), 53);
  EXPECT_EQ(count_of_op(model, "Add"), 16);
  // An eighth of its channels: about a 64th of its 23.5 million weights, and the classifier.
  EXPECT_NEAR(static_cast<double>(weight_count(model)), 23.5e6 / 64 + 257e3, 2e4);
}

TEST(ResNet, SmallOnesAreCorrect) {
  const Model model = resnet({.blocks = {1, 2}, .width = 4, .image = 32, .class_count = 3}, Rng(1));
  const auto checked = check_model(model);
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST(SmallCnn, IsCorrect) {
  const Model model = small_cnn({}, Rng(1));
  const auto checked = check_model(model);
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST(SmallCnn, IsDrawnFromItsSeed) {
  const auto bytes = [](std::uint64_t seed) { return write_model(small_cnn({}, Rng(seed))).value(); };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

}  // namespace
}  // namespace berth::models
