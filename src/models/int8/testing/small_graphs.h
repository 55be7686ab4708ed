// Graphs by hand for the tests of int8.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::testing {

inline models::Node int8_node(std::string op, std::vector<std::string> inputs, std::string output) {
  models::Node made;
  made.op = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

/// With input "x", output "y", weights "w" of Gemm and MatMul {2, 2}, "k" of Conv {2, 2, 1, 1}, biases "b" {2}.
inline models::Model int8_model(std::vector<models::Node> nodes) {
  models::Model model;
  model.ir_version = 8;
  model.opsets = {{"", 17}};
  model.graph.nodes = std::move(nodes);
  model.graph.inputs = {{.name = "x", .type = models::ElementType::kFloat}};
  model.graph.outputs = {{.name = "y", .type = models::ElementType::kFloat}};
  model.graph.initializers = {{"w", models::floats({2, 2}, {127, 1, -1, 127})},
                              {"k", models::floats({2, 2, 1, 1}, {127, 1, -1, 127})},
                              {"b", models::floats({2}, {1, -2})}};
  return model;
}

/// All values are of type float.
inline models::ValueShapes float_shapes(const models::Graph& graph) {
  models::ValueShapes shapes;
  const auto add = [&](const std::string& value) { shapes[value] = {.type = models::ElementType::kFloat, .dims = {}}; };
  for (const models::ValueInfo& input : graph.inputs) add(input.name);
  for (const models::Node& each : graph.nodes) {
    for (const std::string& output : each.outputs) add(output);
  }
  return shapes;
}

}  // namespace berth::testing
