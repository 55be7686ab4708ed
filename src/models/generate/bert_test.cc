#include "models/generate/bert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "models/graph/graph_edit.h"
#include "models/onnx/check_model.h"

namespace berth::models {
namespace {

TEST(Bert, HasTheShapeOfBertMini) {
  const Model model = bert({}, Rng(1));
  const auto checked = check_model(model);
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(std::ranges::count(model.graph.nodes, "Softmax", &Node::op), 4);
  std::int64_t weights = 0;
  for (const auto& [name, constant] : model.graph.initializers) weights += models::count_of(constant->dims);
  // 12 width ** 2 per layer, the embeddings and the classifier.
  EXPECT_NEAR(static_cast<double>(weights), 3.5e6, 0.1e6);
}

TEST(Bert, OfEachVersion) {
  for (std::int64_t opset = 13; opset <= 21; ++opset) {
    const auto checked = check_model(bert({.layer_count = 1, .width = 8, .head_count = 2, .opset = opset}, Rng(1)));
    EXPECT_TRUE(checked) << opset << ": " << checked.error().message;
  }
}

}  // namespace
}  // namespace berth::models
