#include "models/fuse/fold_affine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/affine.h"
#include "models/fuse/detail/linear.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

/// f * (w * x + b) + o = (f * w) * x + (f * b + o).
std::optional<Node> with_affine_after(Sweep& sweep, const Node& node, const Linear& linear, const Affine& affine) {
  std::optional<std::vector<double>> bias = bias_of(sweep, node, linear);
  if (!bias) return std::nullopt;
  std::vector<double> numbers = linear.numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= affine.factors[linear.output_channel(i)];
  for (std::size_t i = 0; i < bias->size(); ++i) (*bias)[i] = (*bias)[i] * affine.factors[i] + affine.offsets[i];
  return with_weights(sweep, node, linear, numbers, *bias);
}

bool fold_after(Sweep& sweep, std::size_t at) {
  const Node& after = sweep.node(at);
  if (!may_be_affine(sweep, after)) return false;
  for (const std::string& input : after.inputs) {
    const std::optional<std::size_t> before = sweep.sole_producer(input);
    if (!before) continue;
    const Node& node = sweep.node(*before);
    const std::optional<Linear> linear = linear_of(sweep, node);
    if (!linear) continue;
    const std::optional<Affine> affine = affine_of(sweep, after, input, linear->outputs);
    if (!affine) continue;
    std::optional<Node> folded = with_affine_after(sweep, node, *linear, *affine);
    if (!folded) continue;
    folded->outputs.front() = after.outputs.front();
    sweep.erase(at);
    sweep.replace(*before, std::move(*folded));
    return true;
  }
  return false;
}

/// Whether the node sees zeros that were put around its input.
bool has_padding(const Node& node) {
  if (attribute_or(node, "auto_pad", std::string("NOTSET")).starts_with("SAME")) return true;
  const std::vector<std::int64_t> pads = attribute_or(node, "pads", std::vector<std::int64_t>());
  return std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
}

/// The channels of the node's input.
Channels input_channels(const Node& node, const Linear& linear, const Sweep& sweep) {
  Channels channels = {.count = static_cast<std::int64_t>(linear.input_count),
                       .axis_from_back = linear.outputs.axis_from_back,
                       .rank = linear.outputs.rank};
  if (node.op == "Gemm" || node.op == "MatMul") {
    const auto dims = sweep.dims(node.inputs.front());
    channels.rank = dims ? std::optional(dims->size()) : std::nullopt;
  }
  return channels;
}

/// w * (f * x + o) + b = (w * f) * x + (sum of w * o + b); Gemm multiplies what its inputs give by alpha.
std::optional<Node> with_affine_before(Sweep& sweep, const Node& node, const Linear& linear, const Affine& affine) {
  std::optional<std::vector<double>> bias = bias_of(sweep, node, linear);
  if (!bias) return std::nullopt;
  const double alpha = node.op == "Gemm" ? attribute_or(node, "alpha", 1.0F) : 1.0F;
  std::vector<double> numbers = linear.numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t input = linear.input_channel(i);
    (*bias)[linear.output_channel(i)] += alpha * numbers[i] * affine.offsets[input];
    numbers[i] *= affine.factors[input];
  }
  return with_weights(sweep, node, linear, numbers, *bias);
}

/// ConvTranspose sees no edge as others do: each output has another share of the inputs.
bool takes_affine_before(const Node& node) {
  if (is_op(node, "Gemm")) return attribute_or(node, "transA", std::int64_t{0}) == 0;
  return is_op(node, "Conv") || is_op(node, "MatMul");
}

/// Without this a constant could make the value larger than it is.
bool has_channels(const Sweep& sweep, const std::string& value, const Channels& channels) {
  const auto dims = sweep.dims(value);
  return dims && channels.rank == dims->size() && dims->size() >= channels.axis_from_back &&
         (*dims)[dims->size() - channels.axis_from_back] == channels.count;
}

bool fold_before(Sweep& sweep, std::size_t at) {
  const Node& node = sweep.node(at);
  if (!takes_affine_before(node)) return false;
  const std::optional<std::size_t> maker = sweep.sole_producer(node.inputs.front());
  if (!maker || !may_be_affine(sweep, sweep.node(*maker))) return false;
  const Node& before = sweep.node(*maker);
  const std::optional<Linear> linear = linear_of(sweep, node);
  if (!linear) return false;
  for (const std::string& input : before.inputs) {
    // Scale and shift of a LayerNormalization written out belong to it: engines look for the whole.
    if (before.op != "BatchNormalization" && sweep.index().maker(input)) continue;
    const Channels channels = input_channels(node, *linear, sweep);
    if (!has_channels(sweep, input, channels)) continue;
    const std::optional<Affine> affine = affine_of(sweep, before, input, channels);
    if (!affine) continue;
    const bool adds = std::ranges::any_of(affine->offsets, [](double offset) { return offset != 0; });
    if (adds && has_padding(node)) return false;
    std::optional<Node> folded = with_affine_before(sweep, node, *linear, *affine);
    if (!folded) return false;
    folded->inputs.front() = input;
    sweep.erase(*maker);
    sweep.replace(at, std::move(*folded));
    return true;
  }
  return false;
}

}  // namespace

Result<bool> fold_affine(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, fold_after);
}

Result<bool> fold_affine_before(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, fold_before);
}

}  // namespace berth::models
