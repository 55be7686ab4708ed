#include "models/fuse/detail/linear.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "models/graph/numbers.h"

namespace berth::models {
namespace {

/// The product of the dimensions from `axis` on.
std::size_t count_from(const Dims& dims, std::size_t axis) {
  std::size_t count = 1;
  for (std::size_t i = axis; i < dims.size(); ++i) count *= static_cast<std::size_t>(dims[i]);
  return count;
}

/// Conv: [outputs, inputs / groups, kernel...]; ConvTranspose: [inputs, outputs / groups, kernel...].
bool read_kernels(const Node& node, Linear& linear) {
  const Dims& dims = linear.weights->dims;
  const std::int64_t groups = attribute_or(node, "group", std::int64_t{1});
  if (groups < 1 || dims[0] == 0 || dims[0] % groups != 0) return false;
  linear.inner_count = static_cast<std::size_t>(dims[1]);
  linear.kernel_count = count_from(dims, 2);
  linear.group_outer_count = static_cast<std::size_t>(dims[0] / groups);
  linear.is_output_outer = node.op == "Conv";
  const std::int64_t inner = dims[1] * groups;
  linear.input_count = static_cast<std::size_t>(linear.is_output_outer ? inner : dims[0]);
  linear.outputs = {
      .count = linear.is_output_outer ? dims[0] : inner, .axis_from_back = dims.size() - 1, .rank = dims.size()};
  return true;
}

/// Weights [inputs, outputs], or the other way round.
void read_matrix(Linear& linear, bool is_turned) {
  const Dims& dims = linear.weights->dims;
  linear.inner_count = static_cast<std::size_t>(dims[1]);
  linear.group_outer_count = static_cast<std::size_t>(dims[0]);
  linear.is_output_outer = is_turned;
  linear.input_count = static_cast<std::size_t>(dims[is_turned ? 1 : 0]);
  linear.outputs = {.count = dims[is_turned ? 0 : 1], .axis_from_back = 1};
}

bool read_weights(const Sweep& sweep, const Node& node, Linear& linear) {
  const std::size_t rank = linear.weights->dims.size();
  if (node.op == "Conv" || node.op == "ConvTranspose") return rank >= 3 && read_kernels(node, linear);
  if (rank != 2) return false;
  read_matrix(linear, node.op == "Gemm" && attribute_or(node, "transB", std::int64_t{0}) != 0);
  if (node.op == "Gemm") {
    linear.outputs.rank = 2;
  } else if (const auto dims = sweep.dims(node.inputs.front())) {
    linear.outputs.rank = dims->size();
  }
  return true;
}

bool is_linear(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "Gemm") || is_op(node, "MatMul");
}

bool are_finite(const Constant& constant) {
  const std::optional<std::vector<double>> numbers = to_doubles(constant);
  return numbers && std::ranges::all_of(*numbers, [](double number) { return std::isfinite(number); });
}

/// Gemm adds beta * C, where C may have fewer dimensions than the result.
std::optional<std::vector<double>> gemm_bias(const Node& node, const Constant& constant, std::size_t count) {
  const Dims& dims = constant.dims;
  const bool is_row = dims.empty() || dims.size() == 1 || (dims.size() == 2 && dims[0] == 1);
  std::optional<std::vector<double>> numbers = to_doubles(constant);
  if (!is_row || !numbers) return std::nullopt;
  if (numbers->size() == 1) numbers->resize(count, numbers->front());
  if (numbers->size() != count) return std::nullopt;
  const double beta = attribute_or(node, "beta", 1.0F);
  for (double& number : *numbers) number *= beta;
  return numbers;
}

}  // namespace

std::optional<Linear> linear_of(const Sweep& sweep, const Node& node) {
  if (!is_linear(node) || node.inputs.size() < 2) return std::nullopt;
  Linear linear;
  linear.weights = sweep.constant(node, 1);
  if (linear.weights == nullptr || !is_float_type(linear.weights->type)) return std::nullopt;
  linear.numbers = to_doubles(*linear.weights).value_or(std::vector<double>());
  if (linear.numbers.empty() || !read_weights(sweep, node, linear)) return std::nullopt;
  return linear;
}

std::optional<std::vector<double>> bias_of(const Sweep& sweep, const Node& node, const Linear& linear) {
  const auto count = static_cast<std::size_t>(linear.outputs.count);
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return std::vector<double>(count, 0);
  const Constant* constant = sweep.constant(node, 2);
  if (constant == nullptr || !is_float_type(constant->type)) return std::nullopt;
  if (node.op == "Gemm") return gemm_bias(node, *constant, count);
  std::optional<std::vector<double>> numbers = to_doubles(*constant);
  return numbers && numbers->size() == count ? numbers : std::nullopt;
}

std::optional<Node> with_weights(Sweep& sweep, const Node& node, const Linear& linear,
                                 const std::vector<double>& numbers, const std::vector<double>& bias) {
  const bool had_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const bool has_bias = had_bias || std::ranges::any_of(bias, [](double number) { return number != 0; });
  const bool becomes_gemm = has_bias && node.op == "MatMul";
  if (becomes_gemm && (linear.outputs.rank != 2 || linear.weights->type == ElementType::kBfloat16)) return std::nullopt;
  ConstantPtr weights = from_doubles(linear.weights->type, linear.weights->dims, numbers);
  ConstantPtr added = from_doubles(linear.weights->type, {linear.outputs.count}, bias);
  if (!are_finite(*weights) || !are_finite(*added)) return std::nullopt;
  Node changed = node;
  if (numbers != linear.numbers) changed.inputs[1] = sweep.change_constant(node.inputs[1], std::move(weights));
  if (!has_bias) return changed;
  changed.inputs.resize(3);
  changed.inputs[2] = had_bias ? sweep.change_constant(node.inputs[2], std::move(added))
                               : sweep.add_constant(node.outputs.front() + "_bias", std::move(added));
  if (node.op == "Gemm") changed.attributes.erase("beta");
  if (becomes_gemm) changed.op = "Gemm";
  return changed;
}

}  // namespace berth::models
