#include "models/fuse/detail/affine.h"

#include <cmath>
#include <utility>

#include "models/graph/numbers.h"

namespace berth::models {
namespace {

constexpr float kEpsilonDefault = 1e-5F;
/// scale, bias, mean and variance, after the value itself.
constexpr std::size_t kBatchNormInputs = 5;

/// One number per channel. Nothing: no float constant, or it differs within a channel or makes the value larger.
std::optional<std::vector<double>> per_channel(const Constant* constant, const Channels& channels) {
  if (constant == nullptr || !is_float_type(constant->type)) return std::nullopt;
  const auto count = static_cast<std::size_t>(channels.count);
  // More dimensions than the value has would be added to it.
  const std::size_t rank_max = channels.rank.value_or(1);
  if (constant->dims.size() > rank_max) return std::nullopt;
  for (std::size_t i = 0; i < constant->dims.size(); ++i) {
    const bool is_channel = constant->dims.size() - i == channels.axis_from_back;
    if (constant->dims[i] != 1 && (!is_channel || constant->dims[i] != channels.count)) return std::nullopt;
  }
  std::optional<std::vector<double>> numbers = to_doubles(*constant);
  if (numbers && numbers->size() == 1) numbers->resize(count, numbers->front());
  return numbers && numbers->size() == count ? numbers : std::nullopt;
}

/// As many numbers as there are channels. Nothing: not constant, or another count.
std::optional<std::vector<double>> parameter(const Sweep& sweep, const Node& node, std::size_t input,
                                             const Channels& channels) {
  const Constant* constant = sweep.constant(node, input);
  if (constant == nullptr || !is_float_type(constant->type)) return std::nullopt;
  std::optional<std::vector<double>> numbers = to_doubles(*constant);
  if (!numbers || numbers->size() != static_cast<std::size_t>(channels.count)) return std::nullopt;
  return numbers;
}

/// Its channels are dimension 1 of the value.
bool has_channels_second(const Channels& channels) {
  return channels.rank && *channels.rank >= 2 && *channels.rank - channels.axis_from_back == 1;
}

std::optional<Affine> batch_norm(const Sweep& sweep, const Node& node, const Channels& channels) {
  if (node.inputs.size() != kBatchNormInputs || !has_channels_second(channels)) return std::nullopt;
  if (attribute_or(node, "training_mode", std::int64_t{0}) != 0) return std::nullopt;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (!sweep.is_unused(node.outputs[i])) return std::nullopt;
  }
  const auto scale = parameter(sweep, node, 1, channels);
  const auto bias = parameter(sweep, node, 2, channels);
  const auto mean = parameter(sweep, node, 3, channels);
  const auto variance = parameter(sweep, node, 4, channels);
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  const double epsilon = attribute_or(node, "epsilon", kEpsilonDefault);
  Affine affine;
  for (std::size_t i = 0; i < scale->size(); ++i) {
    const double factor = (*scale)[i] / std::sqrt((*variance)[i] + epsilon);
    affine.factors.push_back(factor);
    affine.offsets.push_back((*bias)[i] - factor * (*mean)[i]);
  }
  return affine;
}

bool is_affine_operator(const Node& node) {
  return is_op(node, "Mul") || is_op(node, "Div") || is_op(node, "Add") || is_op(node, "Sub");
}

}  // namespace

bool may_be_affine(const Sweep& sweep, const Node& node) {
  if (is_op(node, "BatchNormalization")) return true;
  return is_affine_operator(node) && (sweep.constant(node, 0) != nullptr || sweep.constant(node, 1) != nullptr);
}

std::optional<Affine> affine_of(const Sweep& sweep, const Node& node, const std::string& input,
                                const Channels& channels) {
  if (!may_be_affine(sweep, node)) return std::nullopt;
  if (node.op == "BatchNormalization") {
    return node.inputs.front() == input ? batch_norm(sweep, node, channels) : std::nullopt;
  }
  const bool is_first = node.inputs.front() == input;
  if (node.inputs.size() != 2 || (!is_first && node.op == "Div")) return std::nullopt;
  const std::optional<std::vector<double>> operand = per_channel(sweep.constant(node, is_first ? 1 : 0), channels);
  if (!operand) return std::nullopt;
  const std::size_t count = operand->size();
  Affine affine = {.factors = std::vector<double>(count, 1), .offsets = std::vector<double>(count, 0)};
  for (std::size_t i = 0; i < count; ++i) {
    if (node.op == "Mul") affine.factors[i] = (*operand)[i];
    if (node.op == "Div") affine.factors[i] = 1 / (*operand)[i];
    if (node.op == "Add") affine.offsets[i] = (*operand)[i];
    if (node.op == "Sub") affine.offsets[i] = is_first ? -(*operand)[i] : (*operand)[i];
    if (node.op == "Sub" && !is_first) affine.factors[i] = -1;
  }
  return affine;
}

}  // namespace berth::models
