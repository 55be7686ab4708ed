#include "models/fuse/constant_nodes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/overloaded.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

constexpr std::int64_t kFirstVersionWithDefaults = 4;

/// Null: not of a kind that can be an initialiser.
ConstantPtr constant_in(const AttributeValue& value) {
  const auto count = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  return std::visit(Overloaded{
                        [](const ConstantPtr& constant) { return constant; },
                        [](float number) { return float_scalar(number); },
                        [](std::int64_t number) { return int64s({}, {number}); },
                        [](const std::string& text) { return share({.type = ElementType::kString, .texts = {text}}); },
                        [&](const std::vector<float>& numbers) { return floats({count(numbers)}, numbers); },
                        [&](const std::vector<std::int64_t>& numbers) { return int64s({count(numbers)}, numbers); },
                        [&](const std::vector<std::string>& texts) {
                          return share({.type = ElementType::kString, .dims = {count(texts)}, .texts = texts});
                        },
                        [](const auto&) { return ConstantPtr(); },
                    },
                    value);
}

bool initialize_constant(Sweep& sweep, std::size_t at) {
  const Node& node = sweep.node(at);
  if (!is_op(node, "Constant") || node.outputs.size() != 1 || node.attributes.size() != 1) return false;
  const std::string name = node.outputs.front();
  if (sweep.index().is_output(name)) return false;
  ConstantPtr constant = constant_in(node.attributes.begin()->second);
  if (constant == nullptr) return false;
  sweep.erase(at);
  sweep.set_constant(name, std::move(constant));
  return true;
}

}  // namespace

Result<bool> drop_weight_inputs(Model& model, const PassContext& /*context*/) {
  if (model.ir_version >= kFirstVersionWithDefaults || model.ir_version <= 0) return false;
  const auto is_weight = [&](const ValueInfo& input) { return model.graph.initializers.contains(input.name); };
  std::erase_if(model.graph.inputs, is_weight);
  model.ir_version = kFirstVersionWithDefaults;
  return true;
}

Result<bool> initialize_constants(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, initialize_constant);
}

}  // namespace berth::models
