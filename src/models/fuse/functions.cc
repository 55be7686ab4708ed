#include "models/fuse/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/pattern.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

constexpr std::int64_t kFirstOpsetWithLayerNormalization = 17;
constexpr std::int64_t kFirstOpsetWithGelu = 20;
/// Of constants that exporters round.
constexpr double kToleranceRelative = 1e-5;

bool is_close(std::optional<double> number, double wanted) {
  return number && std::abs(*number - wanted) <= kToleranceRelative * std::abs(wanted);
}

/// The input of a node with two that is not constant, and the constant one: its place.
struct Operand {
  std::string value;
  std::size_t constant;
};

std::optional<Operand> operand_of(const Sweep& sweep, const Node& node) {
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    if (node.inputs.size() == 2 && sweep.constant(node, side) != nullptr) return Operand{node.inputs[1 - side], side};
  }
  return std::nullopt;
}

/// The mean over the last dimension, which is kept.
bool is_mean_of_last(const Sweep& sweep, const Node& mean) {
  const auto axes = int64s_of(sweep, mean, "axes", 1);
  const auto dims = sweep.dims(mean.inputs.front());
  return axes && dims && axes->size() == 1 && attribute_or(mean, "keepdims", std::int64_t{1}) == 1 &&
         axis_from_front(axes->front(), std::ssize(*dims)) == std::ssize(*dims) - 1;
}

struct Standardised {
  std::string value;
  double epsilon = 0;
};

/// d / sqrt(mean of d ** 2 + epsilon) where d is a value less its mean.
std::optional<Standardised> standardised(const Sweep& sweep, Pattern& pattern, const std::string& quotient) {
  const Node* div = pattern.maker(quotient, "Div");
  const Node* root = div == nullptr ? nullptr : pattern.maker(div->inputs[1], "Sqrt");
  const Node* sum = root == nullptr ? nullptr : pattern.maker(root->inputs.front(), "Add");
  const std::optional<Operand> variance = sum == nullptr ? std::nullopt : operand_of(sweep, *sum);
  if (!variance) return std::nullopt;
  const std::optional<double> epsilon = scalar_input(sweep, *sum, variance->constant);
  const Node* mean_square = pattern.maker(variance->value, "ReduceMean");
  if (!epsilon || *epsilon < 0 || mean_square == nullptr || !is_mean_of_last(sweep, *mean_square)) return std::nullopt;
  const std::string& centred = div->inputs.front();
  if (const Node* power = pattern.maker(mean_square->inputs.front(), "Pow")) {
    if (power->inputs.front() != centred || scalar_input(sweep, *power, 1) != 2.0) return std::nullopt;
  } else {
    const Node* square = pattern.maker(mean_square->inputs.front(), "Mul");
    if (square == nullptr || square->inputs[0] != centred || square->inputs[1] != centred) return std::nullopt;
  }
  const Node* difference = pattern.maker(centred, "Sub");
  const Node* mean = difference == nullptr ? nullptr : pattern.maker(difference->inputs[1], "ReduceMean");
  if (mean == nullptr || !is_mean_of_last(sweep, *mean) || mean->inputs.front() != difference->inputs.front()) {
    return std::nullopt;
  }
  return Standardised{.value = difference->inputs.front(), .epsilon = *epsilon};
}

/// Whether the constant has one number for each index of the last dimension.
bool is_row_of(const Constant& constant, std::int64_t columns) {
  return !constant.dims.empty() && constant.dims.back() == columns && count_of(constant.dims) == columns;
}

/// The name of the constant with one dimension.
std::string as_row(Sweep& sweep, const Node& node, const Operand& operand) {
  Constant row = *sweep.constant(node, operand.constant);
  const std::string& name = node.inputs[operand.constant];
  if (row.dims.size() == 1) return name;
  row.dims = {row.dims.back()};
  return sweep.change_constant(name, share(std::move(row)));
}

bool name_normalization_at(Sweep& sweep, std::size_t at) {
  const Node& add = sweep.node(at);
  if (sweep.opset() < kFirstOpsetWithLayerNormalization || !is_op(add, "Add")) return false;
  const std::optional<Operand> bias = operand_of(sweep, add);
  if (!bias) return false;
  Pattern pattern(sweep, at);
  const Node* mul = pattern.maker(bias->value, "Mul");
  const std::optional<Operand> scale = mul == nullptr ? std::nullopt : operand_of(sweep, *mul);
  if (!scale) return false;
  const std::optional<Standardised> found = standardised(sweep, pattern, scale->value);
  if (!found || !pattern.is_closed() || sweep.type(found->value) != ElementType::kFloat) return false;
  const auto dims = sweep.dims(found->value);
  if (!dims || dims->empty() || dims->back() < 0) return false;
  if (!is_row_of(*sweep.constant(*mul, scale->constant), dims->back())) return false;
  if (!is_row_of(*sweep.constant(add, bias->constant), dims->back())) return false;
  Node named = {.name = add.name,
                .op = "LayerNormalization",
                .inputs = {found->value, as_row(sweep, *mul, *scale), as_row(sweep, add, *bias)},
                .outputs = add.outputs};
  named.attributes.emplace("axis", std::int64_t{-1});
  named.attributes.emplace("epsilon", static_cast<float>(found->epsilon));
  pattern.replace(sweep, std::move(named));
  return true;
}

/// The value that `value` is 1 + erf(... / sqrt(2)) of.
std::optional<std::string> error_function_of(const Sweep& sweep, Pattern& pattern, const std::string& value) {
  const Node* add = pattern.maker(value, "Add");
  const std::optional<Operand> one = add == nullptr ? std::nullopt : operand_of(sweep, *add);
  if (!one || scalar_input(sweep, *add, one->constant) != 1.0) return std::nullopt;
  const Node* erf = pattern.maker(one->value, "Erf");
  if (erf == nullptr) return std::nullopt;
  if (const Node* div = pattern.maker(erf->inputs.front(), "Div")) {
    if (!is_close(scalar_input(sweep, *div, 1), std::numbers::sqrt2)) return std::nullopt;
    return div->inputs.front();
  }
  const Node* mul = pattern.maker(erf->inputs.front(), "Mul");
  const std::optional<Operand> scaled = mul == nullptr ? std::nullopt : operand_of(sweep, *mul);
  if (!scaled || !is_close(scalar_input(sweep, *mul, scaled->constant), 1 / std::numbers::sqrt2)) return std::nullopt;
  return scaled->value;
}

/// Input `input` of `node`.
struct Factor {
  const Node* node;
  std::size_t input;

  [[nodiscard]] const std::string& name() const { return node->inputs[input]; }
};

/// Of which value the three factors are the Gelu.
std::optional<std::string> gelu_of(const Sweep& sweep, Pattern& pattern, std::array<Factor, 3> factors) {
  const auto is_half = [&](const Factor& factor) { return scalar_input(sweep, *factor.node, factor.input) == 0.5; };
  const auto half = std::ranges::find_if(factors, is_half);
  if (half == factors.end()) return std::nullopt;
  std::swap(*half, factors[2]);
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const std::optional<std::string> value = error_function_of(sweep, pattern, factors[side].name());
    if (value && *value == factors[1 - side].name()) return value;
  }
  return std::nullopt;
}

bool name_gelu_at(Sweep& sweep, std::size_t at) {
  const Node& outer = sweep.node(at);
  if (sweep.opset() < kFirstOpsetWithGelu || !is_op(outer, "Mul")) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    Pattern pattern(sweep, at);
    const Node* inner = pattern.maker(outer.inputs[side], "Mul");
    if (inner == nullptr) continue;
    const std::array<Factor, 3> factors = {Factor{&outer, 1 - side}, Factor{inner, 0}, Factor{inner, 1}};
    const std::optional<std::string> value = gelu_of(sweep, pattern, factors);
    if (!value || !pattern.is_closed() || sweep.type(*value) != ElementType::kFloat) continue;
    if (sweep.dims(*value) != sweep.dims(outer.outputs.front()) || !sweep.dims(*value)) continue;
    pattern.replace(sweep, {.name = outer.name, .op = "Gelu", .inputs = {*value}, .outputs = outer.outputs});
    return true;
  }
  return false;
}

}  // namespace

Result<bool> name_layer_normalization(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, name_normalization_at);
}

Result<bool> name_gelu(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, name_gelu_at);
}

}  // namespace berth::models
