#include "models/int8/int8_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/int8/testing/small_graphs.h"

namespace berth::models {
namespace {

using ::berth::testing::float_shapes;
using ::berth::testing::int8_model;
using ::berth::testing::int8_node;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Int8Plan plan_for(const Model& model, const std::set<std::string, std::less<>>& float_nodes = {}) {
  return int8_plan(model.graph, float_shapes(model.graph), float_nodes);
}

std::vector<std::string> names_of(const Int8Plan& plan) {
  std::vector<std::string> names;
  for (const auto& [name, value] : plan.values) names.push_back(name);
  return names;
}

QuantizedValue replaced(const std::string& source, const std::string& range_value) {
  return {.source = source, .range_value = range_value, .replaces = true};
}

TEST(Int8Plan, AbsorbsTheReluOfAPerceptronAndLeavesItsOutputInFloat) {
  const Model model = int8_model({int8_node("Gemm", {"x", "w", "b"}, "g"), int8_node("Relu", {"g"}, "r"),
                                  int8_node("Gemm", {"r", "w", "b"}, "y")});
  const Int8Plan plan = plan_for(model);
  EXPECT_THAT(plan.heavy, ElementsAre(0, 2));
  EXPECT_THAT(plan.absorbed, ElementsAre(1));
  EXPECT_THAT(names_of(plan), ElementsAre("r", "x"));
  EXPECT_EQ(plan.values.at("r"), replaced("g", "r"));
  EXPECT_EQ(plan.values.at("x"), (QuantizedValue{.source = "x", .range_value = "x"}));
}

TEST(Int8Plan, RoundsTheOutputOfEveryConv) {
  const Int8Plan plan = plan_for(int8_model({int8_node("Conv", {"x", "k"}, "y")}));
  EXPECT_EQ(plan.values.at("y"), replaced("y", "y"));
}

TEST(Int8Plan, RoundsTheOutputOfAGemmThatEnginesWouldJoinToAnActivation) {
  EXPECT_THAT(names_of(plan_for(int8_model({int8_node("Gemm", {"x", "w"}, "g"), int8_node("Relu", {"g"}, "y")}))),
              ElementsAre("x", "y"));
  EXPECT_THAT(names_of(plan_for(int8_model({int8_node("Gemm", {"x", "w"}, "g"), int8_node("Tanh", {"g"}, "y")}))),
              ElementsAre("g", "x"));
  EXPECT_THAT(names_of(plan_for(int8_model({int8_node("Gemm", {"x", "w"}, "g"), int8_node("Exp", {"g"}, "y")}))),
              ElementsAre("x"));
}

/// Two convolutions, their sum, and one after it.
Model residual() {
  return int8_model({int8_node("Conv", {"x", "k"}, "c"), int8_node("Relu", {"c"}, "r"),
                     int8_node("Conv", {"r", "k"}, "d"), int8_node("Add", {"d", "r"}, "a"),
                     int8_node("Relu", {"a"}, "s"), int8_node("MaxPool", {"s"}, "m"), int8_node("Flatten", {"m"}, "f"),
                     int8_node("Gemm", {"f", "w"}, "y")});
}

TEST(Int8Plan, CarriesASumAndWhatMovesValues) {
  const Int8Plan plan = plan_for(residual());
  EXPECT_THAT(plan.heavy, ElementsAre(0, 2, 7));
  EXPECT_THAT(plan.carried, ElementsAre(3, 5, 6));
  EXPECT_THAT(plan.absorbed, ElementsAre(1, 4));
  EXPECT_EQ(plan.values.at("s"), replaced("a", "s"));
  EXPECT_EQ(plan.values.at("m"), replaced("m", "s"));
  EXPECT_EQ(plan.values.at("f"), replaced("f", "s"));
  EXPECT_THAT(plan.range_values(), ElementsAre("d", "r", "s", "x"));
}

TEST(Int8Plan, WithoutOneOfItsConvolutionsTheSumIsStillRoundedWhereItIsNeeded) {
  const Int8Plan plan = plan_for(residual(), {"d"});
  EXPECT_THAT(plan.heavy, ElementsAre(0, 7));
  // The second convolution is in float, so its output is not rounded, nor is the sum carried.
  EXPECT_THAT(plan.carried, IsEmpty());
  EXPECT_THAT(plan.absorbed, ElementsAre(1));
  EXPECT_THAT(names_of(plan), ElementsAre("f", "r", "x"));
  EXPECT_EQ(plan.values.at("f"), (QuantizedValue{.source = "f", .range_value = "f"}));
}

TEST(Int8Plan, DoesNotCarryASumWithAConstantOrOfFloats) {
  const Int8Plan constant = plan_for(int8_model(
      {int8_node("MatMul", {"x", "w"}, "p"), int8_node("Add", {"p", "b"}, "a"), int8_node("MatMul", {"a", "w"}, "y")}));
  EXPECT_THAT(constant.carried, IsEmpty());
  EXPECT_THAT(names_of(constant), ElementsAre("a", "x"));
  const Int8Plan of_floats =
      plan_for(int8_model({int8_node("Exp", {"x"}, "e"), int8_node("Sin", {"x"}, "s"),
                           int8_node("Add", {"e", "s"}, "a"), int8_node("MatMul", {"a", "w"}, "y")}));
  EXPECT_THAT(of_floats.carried, IsEmpty());
  EXPECT_THAT(names_of(of_floats), ElementsAre("a"));
}

TEST(Int8Plan, AbsorbsAReluThatOnlyIntegersTakeAlsoAfterAFloatNode) {
  const Int8Plan plan = plan_for(
      int8_model({int8_node("Exp", {"x"}, "e"), int8_node("Relu", {"e"}, "r"), int8_node("MatMul", {"r", "w"}, "y")}));
  EXPECT_THAT(plan.absorbed, ElementsAre(1));
  EXPECT_EQ(plan.values.at("r"), replaced("e", "r"));
}

TEST(Int8Plan, KeepsAReluWhoseInputOthersTake) {
  Model model = int8_model({int8_node("Conv", {"x", "k"}, "c"), int8_node("Relu", {"c"}, "r"),
                            int8_node("Exp", {"r"}, "e"), int8_node("Add", {"c", "e"}, "y")});
  const Int8Plan plan = plan_for(model);
  EXPECT_THAT(plan.absorbed, IsEmpty());
  EXPECT_THAT(names_of(plan), ElementsAre("c", "x"));
}

TEST(Int8Plan, AbsorbsAClipAroundZeroOnly) {
  const auto absorbed = [](float low, float high) {
    Model model = int8_model({int8_node("Conv", {"x", "k"}, "c"), int8_node("Clip", {"c", "low", "high"}, "y")});
    model.graph.initializers["low"] = float_scalar(low);
    model.graph.initializers["high"] = float_scalar(high);
    return plan_for(model).absorbed.size();
  };
  EXPECT_EQ(absorbed(0, 6), 1U);
  EXPECT_EQ(absorbed(-1, 1), 1U);
  EXPECT_EQ(absorbed(1, 6), 0U);
  EXPECT_EQ(absorbed(-6, -1), 0U);
}

TEST(Int8Plan, RoundsAllPartsOfASplitAlike) {
  Node split = int8_node("Split", {"c"}, "s");
  split.outputs.emplace_back("t");
  const Int8Plan plan =
      plan_for(int8_model({int8_node("Conv", {"x", "k"}, "c"), split, int8_node("Conv", {"s", "k"}, "d"),
                           int8_node("Concat", {"t", "d"}, "y")}));
  EXPECT_EQ(plan.values.at("s"), replaced("s", "c"));
  EXPECT_EQ(plan.values.at("t"), replaced("t", "c"));
}

TEST(Int8Plan, SaysWhyAHeavyNodeIsLeft) {
  const auto reason = [](Model model) {
    const Int8Plan plan = plan_for(model);
    EXPECT_THAT(plan.heavy, IsEmpty());
    return plan.left.empty() ? "" : plan.left.begin()->second;
  };
  EXPECT_THAT(reason(int8_model({int8_node("MatMul", {"x", "x"}, "y")})), HasSubstr("not constant"));
  EXPECT_THAT(reason(int8_model({int8_node("MatMul", {"w", "w"}, "y")})), HasSubstr("input is constant"));
  EXPECT_THAT(reason(int8_model({int8_node("ConvTranspose", {"x", "k"}, "y")})), HasSubstr("ConvTranspose"));
  Node transposed = int8_node("Gemm", {"x", "w"}, "y");
  transposed.attributes.emplace("transA", std::int64_t{1});
  EXPECT_THAT(reason(int8_model({transposed})), HasSubstr("transA"));
  EXPECT_THAT(reason(int8_model({int8_node("Gemm", {"x", "w", "w"}, "y")})), HasSubstr("bias"));
  Model of_input = int8_model({int8_node("MatMul", {"x", "w"}, "y")});
  of_input.graph.inputs.push_back({.name = "w", .type = ElementType::kFloat});
  EXPECT_THAT(reason(of_input), HasSubstr("weights are not constant"));
  Model infinite = int8_model({int8_node("MatMul", {"x", "w"}, "y")});
  infinite.graph.initializers["w"] = floats({1, 2}, {1, HUGE_VALF});
  EXPECT_THAT(reason(infinite), HasSubstr("not finite"));
}

TEST(Int8Plan, LeavesWhatIsNotKnownToBeFloat) {
  const Model model = int8_model({int8_node("MatMul", {"x", "w"}, "y")});
  EXPECT_THAT(int8_plan(model.graph, {}).heavy, IsEmpty());
  EXPECT_THAT(int8_plan(model.graph, {{"x", {.type = ElementType::kFloat16, .dims = {}}}}).heavy, IsEmpty());
}

}  // namespace
}  // namespace berth::models
