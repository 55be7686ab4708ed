#include "models/int8/detail/heavy_node.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::models {
namespace {

bool are_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// One value per channel, from a bias of one value or one per channel.
Result<std::vector<float>> bias_values(const Constant& bias, std::size_t channel_count, float factor) {
  if (bias.type != ElementType::kFloat) return invalid("its bias is not of type float");
  std::vector<float> values = to_floats(bias);
  const bool is_row = bias.dims.empty() || bias.dims.back() == static_cast<std::int64_t>(values.size());
  if (values.size() == 1) values.resize(channel_count, values.front());
  if (!is_row || values.size() != channel_count) return invalid("its bias is not one value per channel");
  for (float& value : values) value *= factor;
  if (!are_finite(values)) return invalid("its bias is not finite");
  return values;
}

/// The axis of the weights that is one channel of the output per index.
Result<std::optional<std::size_t>> channel_axis(const Node& node, const Constant& weights) {
  const std::size_t rank = weights.dims.size();
  if (is_op(node, "Conv")) {
    if (rank < 3) return invalid("its weights have fewer than 3 dimensions");
    return 0;
  }
  if (is_op(node, "Gemm")) {
    if (rank != 2) return invalid("its weights are no matrix");
    if (attribute_or(node, "transA", std::int64_t{0}) != 0) return invalid("its input is transposed (transA)");
    return attribute_or(node, "transB", std::int64_t{0}) != 0 ? 0 : 1;
  }
  if (rank < 2) return invalid("its weights are no matrix");
  // Engines take one scale per column of a matrix, but not of several matrices.
  return rank == 2 ? std::optional<std::size_t>(1) : std::nullopt;
}

}  // namespace

bool is_heavy_kind(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "Gemm") || is_op(node, "MatMul") || is_op(node, "ConvTranspose");
}

Result<HeavyNode> heavy_node(const Graph& graph, const GraphIndex& index, const Node& node) {
  if (is_op(node, "ConvTranspose")) return invalid("engines have no ConvTranspose of integers");
  if (graph.initializers.contains(node.inputs[0]) || constant_input(graph, index, node, 0)) {
    return invalid("its input is constant");
  }
  const std::optional<ConstantPtr> weights = constant_input(graph, index, node, 1);
  if (!weights) return invalid("its weights are not constant");
  if ((*weights)->type != ElementType::kFloat) return invalid("its weights are not of type float");
  if (count_of((*weights)->dims) == 0) return invalid("its weights are empty");
  if (!are_finite(to_floats(**weights))) return invalid("its weights are not finite");
  const auto axis = channel_axis(node, **weights);
  if (!axis) return pass_on(axis.error());

  HeavyNode heavy = {.weights = *weights,
                     .channel_axis = *axis,
                     .channel_count = *axis ? static_cast<std::size_t>((*weights)->dims[**axis]) : 1,
                     .bias = std::nullopt,
                     .weight_factor = attribute_or(node, "alpha", 1.0F)};
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return heavy;
  const std::optional<ConstantPtr> bias = constant_input(graph, index, node, 2);
  if (!bias) return invalid("its bias is not constant");
  Result<std::vector<float>> values = bias_values(**bias, heavy.channel_count, attribute_or(node, "beta", 1.0F));
  if (!values) return pass_on(values.error());
  heavy.bias = std::move(*values);
  return heavy;
}

}  // namespace berth::models
