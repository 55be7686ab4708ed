#include "models/count/content_sized.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace berth::models {
namespace {

Graph reading_x(std::vector<Node> nodes) {
  Graph graph;
  graph.inputs = {{.name = "x"}};
  graph.nodes = std::move(nodes);
  return graph;
}

TEST(ContentSized, SizesOfElementwiseOperatorsAreThoseOfTheInputs) {
  const Graph graph = reading_x({{.op = "Relu", .inputs = {"x"}, .outputs = {"r"}},
                                 {.op = "Scaler", .domain = "ai.onnx.ml", .inputs = {"r"}, .outputs = {"s"}},
                                 {.op = "Reshape", .inputs = {"s", "constant"}, .outputs = {"y"}}});
  EXPECT_TRUE(sized_by_content(graph).empty());
}

TEST(ContentSized, WhatChoosesElementsAndWhatFollows) {
  const Graph graph = reading_x({{.op = "NonZero", .inputs = {"x"}, .outputs = {"i"}},
                                 {.op = "Cast", .inputs = {"i"}, .outputs = {"f"}},
                                 {.op = "Neg", .inputs = {"x"}, .outputs = {"n"}},
                                 {.op = "NonZero", .inputs = {"constant"}, .outputs = {"c"}}});
  EXPECT_EQ(sized_by_content(graph), (std::set<std::string>{"f", "i"}));
}

TEST(ContentSized, SizesThatAreComputedFromSizesAreKnown) {
  const Graph graph = reading_x({{.op = "Shape", .inputs = {"x"}, .outputs = {"shape"}},
                                 {.op = "Gather", .inputs = {"shape", "zero"}, .outputs = {"rows"}},
                                 {.op = "Expand", .inputs = {"one", "rows"}, .outputs = {"by sizes"}},
                                 {.op = "Expand", .inputs = {"one", "x"}, .outputs = {"by content"}},
                                 {.op = "ConstantOfShape", .inputs = {"x"}, .outputs = {"filled"}},
                                 {.op = "Shape", .inputs = {"filled"}, .outputs = {"its shape"}},
                                 {.op = "ConstantOfShape", .inputs = {"its shape"}, .outputs = {"again"}}});
  EXPECT_EQ(sized_by_content(graph), (std::set<std::string>{"again", "by content", "filled"}));
}

TEST(ContentSized, AnOperatorThatIsNotKnownMayChoose) {
  const Graph graph = reading_x({{.op = "Tokens", .domain = "com.example", .inputs = {"x"}, .outputs = {"y"}}});
  EXPECT_EQ(sized_by_content(graph), (std::set<std::string>{"y"}));
}

}  // namespace
}  // namespace berth::models
