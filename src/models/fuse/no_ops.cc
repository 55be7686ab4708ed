#include "models/fuse/no_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sweep.h"
#include "models/graph/numbers.h"

namespace berth::models {
namespace {

using SaidDims = std::optional<std::vector<std::int64_t>>;

bool is_always(const Sweep& /*sweep*/, const Node& /*node*/) { return true; }

bool is_of_one(const Sweep& /*sweep*/, const Node& node) { return node.inputs.size() == 1; }

/// From version 12 on an input says whether it trains; before, it never does here.
bool is_idle_dropout(const Sweep& sweep, const Node& node) {
  if (node.outputs.size() > 1 && !sweep.is_unused(node.outputs[1])) return false;
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return true;
  return scalar_input(sweep, node, 2) == 0.0;
}

bool is_idle_cast(const Sweep& sweep, const Node& node) {
  const ElementType type = sweep.type(node.inputs.front());
  return type != ElementType::kUndefined &&
         static_cast<std::int64_t>(type) == attribute_or(node, "to", std::int64_t{0});
}

bool is_idle_transpose(const Sweep& /*sweep*/, const Node& node) {
  const std::vector<std::int64_t> order = attribute_or(node, "perm", std::vector<std::int64_t>{1, 0});
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

bool is_static(const SaidDims& dims) {
  return dims && std::ranges::all_of(*dims, [](std::int64_t dim) { return dim >= 0; });
}

/// Each size is that of the input, by its number or by 0; or it is the only one that is left open.
bool is_idle_reshape(const Sweep& sweep, const Node& node) {
  const SaidDims from = sweep.dims(node.inputs.front());
  if (is_static(from) && from == sweep.dims(node.outputs.front())) return true;
  const SaidDims to = int64_input(sweep, node, 1);
  if (!from || !to || from->size() != to->size()) return false;
  if (attribute_or(node, "allowzero", std::int64_t{0}) != 0) return false;
  int open_count = 0;
  for (std::size_t i = 0; i < to->size(); ++i) {
    const std::int64_t size = (*to)[i];
    if (size == -1) ++open_count;
    if (size > 0 && size != (*from)[i]) return false;
  }
  return open_count <= 1;
}

bool is_idle_flatten(const Sweep& sweep, const Node& node) {
  const SaidDims from = sweep.dims(node.inputs.front());
  return from && from->size() == 2 && axis_from_front(attribute_or(node, "axis", std::int64_t{1}), 2) == 1;
}

bool is_idle_slice(const Sweep& sweep, const Node& node) {
  const SaidDims starts = int64_input(sweep, node, 1);
  const SaidDims ends = int64_input(sweep, node, 2);
  if (!starts || !ends || starts->size() != ends->size()) return false;
  const bool has_axes = node.inputs.size() > 3 && !node.inputs[3].empty();
  const bool has_steps = node.inputs.size() > 4 && !node.inputs[4].empty();
  const SaidDims axes = int64_input(sweep, node, 3);
  const SaidDims steps = int64_input(sweep, node, 4);
  if ((has_axes && (!axes || axes->size() != starts->size())) || (has_steps && !steps)) return false;
  const SaidDims from = sweep.dims(node.inputs.front());
  for (std::size_t i = 0; i < starts->size(); ++i) {
    if ((*starts)[i] != 0 || (has_steps && (i >= steps->size() || (*steps)[i] != 1))) return false;
    if ((*ends)[i] >= INT32_MAX) continue;  // up to the end, as exporters write it
    if (!from) return false;
    const auto rank = static_cast<std::int64_t>(from->size());
    const auto axis = axis_from_front(has_axes ? (*axes)[i] : static_cast<std::int64_t>(i), rank);
    if (!axis) return false;
    const std::int64_t size = (*from)[static_cast<std::size_t>(*axis)];
    if (size < 0 || (*ends)[i] < size) return false;
  }
  return true;
}

bool are_all(const SaidDims& values, std::int64_t wanted) {
  return values && std::ranges::all_of(*values, [&](std::int64_t value) { return value == wanted; });
}

bool is_idle_pad(const Sweep& sweep, const Node& node) { return are_all(int64s_of(sweep, node, "pads", 1), 0); }

bool is_idle_tile(const Sweep& sweep, const Node& node) { return are_all(int64_input(sweep, node, 1), 1); }

bool is_idle_expand(const Sweep& sweep, const Node& node) {
  const SaidDims from = sweep.dims(node.inputs.front());
  const SaidDims to = int64_input(sweep, node, 1);
  return from && to && to->size() <= from->size() && are_all(to, 1);
}

/// All numbers of the constant that is input `input` are `neutral`, and it does not make the other input larger.
bool is_neutral(const Sweep& sweep, const Node& node, std::size_t input, double neutral) {
  const Constant* constant = sweep.constant(node, input);
  if (constant == nullptr || !keeps_dims(*constant, sweep.dims(node.inputs[1 - input]))) return false;
  const std::optional<std::vector<double>> numbers = to_doubles(*constant);
  return numbers && !numbers->empty() &&
         std::ranges::all_of(*numbers, [&](double number) { return number == neutral; });
}

bool adds_nothing(const Sweep& sweep, const Node& node) { return is_neutral(sweep, node, 1, 0); }
bool scales_nothing(const Sweep& sweep, const Node& node) { return is_neutral(sweep, node, 1, 1); }

/// The exponent may be of another type than the base, which is the type of the output.
bool has_power_one(const Sweep& sweep, const Node& node) { return is_neutral(sweep, node, 1, 1); }

using IsIdle = bool (*)(const Sweep& sweep, const Node& node);

const std::map<std::string_view, IsIdle>& idle_by_op() {
  static const std::map<std::string_view, IsIdle> kIdle = {
      {"Identity", is_always},      {"Dropout", is_idle_dropout},
      {"Cast", is_idle_cast},       {"Transpose", is_idle_transpose},
      {"Reshape", is_idle_reshape}, {"Flatten", is_idle_flatten},
      {"Slice", is_idle_slice},     {"Pad", is_idle_pad},
      {"Tile", is_idle_tile},       {"Expand", is_idle_expand},
      {"Add", adds_nothing},        {"Sub", adds_nothing},
      {"Mul", scales_nothing},      {"Div", scales_nothing},
      {"Pow", has_power_one},       {"Concat", is_of_one},
      {"Sum", is_of_one},           {"Max", is_of_one},
      {"Min", is_of_one},           {"Mean", is_of_one},
  };
  return kIdle;
}

/// 0 + x and 1 * x: the first input is the neutral one.
bool is_neutral_ahead(const Sweep& sweep, const Node& node) {
  return (node.op == "Add" && is_neutral(sweep, node, 0, 0)) || (node.op == "Mul" && is_neutral(sweep, node, 0, 1));
}

bool drop_no_op(Sweep& sweep, std::size_t at) {
  const Node& node = sweep.node(at);
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || node.outputs.front().empty()) return false;
  const auto found = idle_by_op().find(node.op);
  if (found == idle_by_op().end()) return false;
  if (found->second(sweep, node)) return sweep.bypass(at, node.inputs.front());
  return is_neutral_ahead(sweep, node) && sweep.bypass(at, node.inputs[1]);
}

}  // namespace

Result<bool> drop_no_ops(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, drop_no_op);
}

}  // namespace berth::models
