#include "models/fuse/detail/operators.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/graph/numbers.h"

namespace berth::models {
namespace {

/// Dropout draws while it trains, and what it gives otherwise is for another pass.
constexpr std::array<std::string_view, 7> kRandom = {
    "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
};

constexpr std::array<std::string_view, 42> kElementwise = {
    "Abs",        "Acos",  "Acosh",     "Asin",     "Asinh",       "Atan",      "Atanh",
    "Cast",       "Ceil",  "Celu",      "Clip",     "Cos",         "Cosh",      "Elu",
    "Erf",        "Exp",   "Floor",     "Gelu",     "HardSigmoid", "HardSwish", "Identity",
    "IsInf",      "IsNaN", "LeakyRelu", "Log",      "Mish",        "Neg",       "Not",
    "Reciprocal", "Relu",  "Round",     "Selu",     "Shrink",      "Sigmoid",   "Sign",
    "Sin",        "Sinh",  "Softplus",  "Softsign", "Sqrt",        "Tanh",      "ThresholdedRelu",
};

static_assert(std::ranges::is_sorted(kRandom));
static_assert(std::ranges::is_sorted(kElementwise));

}  // namespace

bool is_deterministic(const Node& node) {
  if (!node.domain.empty() && node.domain != "ai.onnx.ml") return false;
  return !std::ranges::binary_search(kRandom, std::string_view(node.op)) && graphs_in(node).empty();
}

bool is_elementwise(const Node& node) {
  return node.domain.empty() && std::ranges::binary_search(kElementwise, std::string_view(node.op));
}

std::optional<std::int64_t> axis_from_front(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::vector<std::int64_t>> int64s_of(const Sweep& sweep, const Node& node, std::string_view name,
                                                   std::size_t input) {
  const auto attribute = node.attributes.find(name);
  if (attribute == node.attributes.end()) return int64_input(sweep, node, input);
  const auto* values = std::get_if<std::vector<std::int64_t>>(&attribute->second);
  return values == nullptr ? std::nullopt : std::optional(*values);
}

std::optional<std::vector<std::int64_t>> int64_input(const Sweep& sweep, const Node& node, std::size_t input) {
  const Constant* constant = sweep.constant(node, input);
  if (constant == nullptr) return std::nullopt;
  if (constant->type == ElementType::kInt64) return to_int64s(*constant);
  if (constant->type != ElementType::kInt32) return std::nullopt;
  std::vector<std::int64_t> values;
  const std::vector<double> numbers = to_doubles(*constant).value_or(std::vector<double>());
  for (const double number : numbers) values.push_back(static_cast<std::int64_t>(number));
  return values;
}

bool keeps_dims(const Constant& constant, const std::optional<std::vector<std::int64_t>>& dims) {
  if (constant.dims.empty()) return true;
  if (!dims || dims->size() < constant.dims.size()) return false;
  const std::size_t ahead = dims->size() - constant.dims.size();
  for (std::size_t i = 0; i < constant.dims.size(); ++i) {
    if (constant.dims[i] != 1 && constant.dims[i] != (*dims)[ahead + i]) return false;
  }
  return true;
}

std::optional<double> scalar_input(const Sweep& sweep, const Node& node, std::size_t input) {
  const Constant* constant = sweep.constant(node, input);
  if (constant == nullptr || count_of(constant->dims) != 1) return std::nullopt;
  const std::optional<std::vector<double>> numbers = to_doubles(*constant);
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

}  // namespace berth::models
