#include "models/fuse/reshapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

/// The second input of Reshape: 0 copies the size of the input at that place, -1 is what is left.
using Target = std::vector<std::int64_t>;

constexpr std::int64_t kFirstOpsetWithAxesInput = 13;

bool is_reshaping(const Node& node) {
  return is_op(node, "Reshape") || is_op(node, "Flatten") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze");
}

/// From the shape that is known of the output: at most one size is not.
std::optional<Target> target_by_shape(const Sweep& sweep, const Node& node) {
  const auto dims = sweep.dims(node.outputs.front());
  if (!dims || std::ranges::count(*dims, -1) > 1 || std::ranges::count(*dims, 0) > 0) return std::nullopt;
  return *dims;
}

/// From the constants of two Reshapes: 0 in the second stands for what the first says there.
std::optional<Target> target_by_constants(const Sweep& sweep, const Node& first, const Node& second) {
  if (!is_op(second, "Reshape") || attribute_or(second, "allowzero", std::int64_t{0}) != 0) return std::nullopt;
  std::optional<Target> target = int64_input(sweep, second, 1);
  if (!target) return std::nullopt;
  if (std::ranges::count(*target, 0) == 0) return target;
  const std::optional<Target> before = int64_input(sweep, first, 1);
  if (!before || !is_op(first, "Reshape") || attribute_or(first, "allowzero", std::int64_t{0}) != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < target->size(); ++i) {
    if ((*target)[i] != 0) continue;
    if (i >= before->size()) return std::nullopt;
    (*target)[i] = (*before)[i];
  }
  return std::ranges::count(*target, -1) <= 1 ? target : std::nullopt;
}

Node reshape_to(Sweep& sweep, const Node& like, const std::string& value, const Target& target) {
  const std::string shape = sweep.add_constant(like.outputs.front() + "_shape", int64s({std::ssize(target)}, target));
  return {.name = like.name, .op = "Reshape", .inputs = {value, shape}, .outputs = like.outputs};
}

/// In the dimensions of the output, from the front. Nothing: not known.
std::optional<std::vector<std::int64_t>> new_axes(const Sweep& sweep, const Node& unsqueeze) {
  std::optional<std::vector<std::int64_t>> axes = int64s_of(sweep, unsqueeze, "axes", 1);
  if (!axes || std::ranges::all_of(*axes, [](std::int64_t axis) { return axis >= 0; })) return axes;
  const auto dims = sweep.dims(unsqueeze.inputs.front());
  if (!dims) return std::nullopt;
  const std::int64_t rank = std::ssize(*dims) + std::ssize(*axes);
  for (std::int64_t& axis : *axes) {
    const std::optional<std::int64_t> placed = axis_from_front(axis, rank);
    if (!placed) return std::nullopt;
    axis = *placed;
  }
  return axes;
}

/// The place of dimension `axis` after dimensions were put in at `added`, which are sorted.
std::int64_t place_among(std::int64_t axis, const std::vector<std::int64_t>& added) {
  for (const std::int64_t other : added) {
    if (other <= axis) ++axis;
  }
  return axis;
}

std::optional<Node> merged_unsqueeze(Sweep& sweep, const Node& first, const Node& second) {
  if (!is_op(first, "Unsqueeze") || !is_op(second, "Unsqueeze")) return std::nullopt;
  const std::optional<std::vector<std::int64_t>> inner = new_axes(sweep, first);
  std::optional<std::vector<std::int64_t>> outer = new_axes(sweep, second);
  if (!inner || !outer) return std::nullopt;
  std::ranges::sort(*outer);
  std::vector<std::int64_t> axes = *outer;
  for (const std::int64_t axis : *inner) axes.push_back(place_among(axis, *outer));
  std::ranges::sort(axes);
  Node merged = second;
  merged.inputs = {first.inputs.front()};
  if (sweep.opset() < kFirstOpsetWithAxesInput) {
    merged.attributes.insert_or_assign("axes", std::move(axes));
  } else {
    const std::int64_t count = std::ssize(axes);
    merged.inputs.push_back(sweep.add_constant(second.outputs.front() + "_axes", int64s({count}, axes)));
  }
  return merged;
}

bool merge_reshape(Sweep& sweep, std::size_t at) {
  const Node& second = sweep.node(at);
  if (!is_reshaping(second)) return false;
  const std::optional<std::size_t> before = sweep.producer(second.inputs.front());
  if (!before || !is_reshaping(sweep.node(*before))) return false;
  const Node& first = sweep.node(*before);
  std::optional<Target> target = target_by_constants(sweep, first, second);
  if (!target) target = target_by_shape(sweep, second);
  std::optional<Node> merged;
  if (target) {
    merged = reshape_to(sweep, second, first.inputs.front(), *target);
  } else {
    merged = merged_unsqueeze(sweep, first, second);
  }
  if (!merged) return false;
  sweep.replace(at, std::move(*merged));
  return true;
}

}  // namespace

Result<bool> merge_reshapes(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, merge_reshape);
}

}  // namespace berth::models
