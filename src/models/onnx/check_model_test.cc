#include "models/onnx/check_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/testing/random_graph.h"

namespace berth::models {
namespace {

using ::testing::HasSubstr;

Model relu_model() {
  return {.ir_version = 8,
          .opsets = {{"", 17}},
          .graph = {.nodes = {{.name = "n", .op = "Relu", .inputs = {"x"}, .outputs = {"y"}}},
                    .inputs = {{.name = "x", .type = ElementType::kFloat}},
                    .outputs = {{.name = "y", .type = ElementType::kFloat}}}};
}

std::string check_fault(const Model& model) {
  const Result<void> checked = check_model(model);
  return checked ? "" : checked.error().message;
}

TEST(CheckModel, AcceptsWhatEnginesDo) {
  EXPECT_EQ(check_fault(relu_model()), "") << "no name, no shapes";
  Model model = relu_model();
  model.ir_version = 13;
  EXPECT_EQ(check_fault(model), "");
  model.graph.nodes[0].domain = "com.example";
  model.opsets["com.example"] = 3;
  EXPECT_EQ(check_fault(model), "");
}

TEST(CheckModel, AcceptsRandomModels) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) EXPECT_EQ(check_fault(testing::random_model(Rng(seed))), "") << seed;
}

TEST(CheckModel, FindsFaults) {
  Model model = relu_model();
  model.graph.nodes[0].op = "Rilu";
  EXPECT_THAT(check_fault(model), HasSubstr("libonnx's checker: No Op registered for Rilu"));
  EXPECT_THAT(check_fault(model), Not(HasSubstr("\n")));
  model.opsets[""] = 21;
  EXPECT_EQ(check_fault(model), "") << "a version that it does not know";
  model.graph.nodes[0].inputs[0] = "z";
  EXPECT_EQ(check_fault(model), "value \"z\" is taken by node \"n\" (\"Rilu\") and made nowhere");
  model = relu_model();
  model.graph.nodes[0].attributes.emplace("axis", std::int64_t{1});
  EXPECT_THAT(check_fault(model), HasSubstr("Unrecognized attribute: axis for operator Relu"));
}

TEST(CheckModel, DoesNotNeedWeights) {
  Model model = relu_model();
  model.graph.nodes[0].op = "Add";
  model.graph.nodes[0].inputs.push_back("w");
  model.graph.initializers.emplace("w", floats({100, 100}, std::vector<float>(10'000, 1)));
  EXPECT_EQ(check_fault(model), "");
}

}  // namespace
}  // namespace berth::models
