// Models of a few nodes for tests of passes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/graph/constant.h"
#include "models/graph/graph.h"
#include "models/graph/graph_edit.h"
#include "models/graph/pass.h"

namespace berth::testing {

using Names = std::vector<std::string>;
using Int64s = std::vector<std::int64_t>;

/// A weight with one dimension.
inline models::ConstantPtr sizes(const Int64s& values) { return models::int64s({std::ssize(values)}, values); }
using Attributes = std::map<std::string, models::AttributeValue, std::less<>>;

/// A model, and what the engine would say of its values.
class SmallModel {
 public:
  explicit SmallModel(std::int64_t opset = 17) { model.opsets = {{"", opset}}; }

  /// -1: any size.
  SmallModel& input(const std::string& name, const Int64s& dims,
                    models::ElementType type = models::ElementType::kFloat) {
    model.graph.inputs.push_back({.name = name, .type = type});
    return shape(name, dims, type);
  }
  SmallModel& shape(const std::string& name, const Int64s& dims,
                    models::ElementType type = models::ElementType::kFloat) {
    shapes[name] = {.type = type, .dims = dims};
    return *this;
  }
  SmallModel& weight(const std::string& name, models::ConstantPtr constant) {
    model.graph.initializers[name] = std::move(constant);
    return *this;
  }
  SmallModel& node(const std::string& op, const Names& inputs, const Names& outputs, Attributes attributes = {}) {
    model.graph.nodes.push_back({.op = op, .inputs = inputs, .outputs = outputs, .attributes = std::move(attributes)});
    return *this;
  }
  SmallModel& output(const std::string& name) {
    model.graph.outputs.push_back({.name = name, .type = models::ElementType::kFloat});
    return *this;
  }

  /// Whether the pass changed the model, which is then still a correct one.
  bool apply(Result<bool> (*pass)(models::Model&, const models::PassContext&)) {
    const Result<bool> is_changed = pass(model, {.shapes = shapes, .evaluate = evaluate});
    EXPECT_TRUE(is_changed) << is_changed.error().message;
    const Result<void> names = models::check_names(model.graph);
    EXPECT_TRUE(names) << names.error().message;
    return is_changed && *is_changed;
  }

  [[nodiscard]] Names ops() const {
    Names ops;
    for (const models::Node& node : model.graph.nodes) ops.push_back(node.op);
    return ops;
  }
  [[nodiscard]] const models::Node& first(const std::string& op) const {
    const auto found = std::ranges::find(model.graph.nodes, op, &models::Node::op);
    EXPECT_NE(found, model.graph.nodes.end()) << op;
    return *found;
  }
  [[nodiscard]] std::vector<float> floats_at(const std::string& name) const {
    return models::to_floats(*model.graph.initializers.at(name));
  }
  [[nodiscard]] Int64s int64s_at(const std::string& name) const {
    return models::to_int64s(*model.graph.initializers.at(name));
  }

  models::Model model = {.ir_version = 8};
  models::ValueShapes shapes;
  models::Evaluate evaluate = [](const models::Model&) -> Result<std::vector<models::ConstantPtr>> {
    return invalid("no engine");
  };
};

}  // namespace berth::testing
