#include "models/fuse/fold_sizes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sizes.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

/// Null: not all numbers are known.
ConstantPtr constant_of(const SizeTensor& tensor) {
  std::vector<std::int64_t> numbers;
  for (const SizeTerm& term : tensor.terms) {
    if (!term.number) return nullptr;
    numbers.push_back(*term.number);
  }
  const Dims dims = tensor.is_scalar ? Dims() : Dims{std::ssize(numbers)};
  if (tensor.type == ElementType::kInt64) return int64s(dims, numbers);
  return int32s(dims, std::vector<std::int32_t>(numbers.begin(), numbers.end()));
}

/// Whether the output became an initialiser.
bool fold_tensor(Sweep& sweep, std::size_t at, const SizeTensor& tensor) {
  const Node& node = sweep.node(at);
  if (sweep.index().is_output(node.outputs.front())) return false;
  ConstantPtr constant = constant_of(tensor);
  if (constant == nullptr) return false;
  sweep.erase(at);
  sweep.set_constant(node.outputs.front(), std::move(constant));
  return true;
}

/// With 0 for a size that is copied, and -1 for the one that is left. Nothing: more than one is left.
std::optional<std::vector<std::int64_t>> reshape_target(const SizeReader& reader, const Node& reshape,
                                                        const SizeTensor& shape) {
  std::vector<std::int64_t> target;
  for (std::size_t i = 0; i < shape.terms.size(); ++i) {
    const SizeTerm& term = shape.terms[i];
    if (term.number) {
      target.push_back(*term.number);
    } else if (!term.value.empty() && term == reader.dimension(reshape.inputs.front(), static_cast<std::int64_t>(i))) {
      target.push_back(0);
    } else {
      target.push_back(-1);
    }
  }
  return std::ranges::count(target, -1) <= 1 ? std::optional(target) : std::nullopt;
}

bool fold_reshape(Sweep& sweep, std::size_t at, const SizeReader& reader) {
  const Node& node = sweep.node(at);
  if (!is_op(node, "Reshape") || node.inputs.size() != 2 || sweep.constant(node, 1) != nullptr) return false;
  const std::optional<SizeTensor> shape = reader.of(node, 1);
  if (!shape || attribute_or(node, "allowzero", std::int64_t{0}) != 0) return false;
  // A dimension that the value does not have is never equal to one of the shape: see reader.dimension.
  const auto dims = reader.dims().of(node.inputs.front());
  const std::optional<std::vector<std::int64_t>> target = dims ? reshape_target(reader, node, *shape) : std::nullopt;
  if (!target) return false;
  for (std::size_t i = dims->size(); i < target->size(); ++i) {
    if ((*target)[i] == 0) return false;
  }
  Node changed = node;
  changed.inputs[1] = sweep.add_constant(node.outputs.front() + "_shape", int64s({std::ssize(*target)}, *target));
  sweep.replace(at, std::move(changed));
  return true;
}

bool fold_sizes_in(const GraphScope& scope) {
  bool is_changed = false;
  Sweep sweep(scope);
  SizeReader reader(sweep);
  for (std::size_t at = 0; at < sweep.node_count(); ++at) {
    const std::optional<SizeTensor> tensor = reader.read(sweep.node(at));
    if (tensor && fold_tensor(sweep, at, *tensor)) {
      is_changed = true;
    } else {
      is_changed |= fold_reshape(sweep, at, reader);
    }
  }
  if (is_changed) sweep.finish();
  return is_changed;
}

}  // namespace

Result<bool> fold_sizes(Model& model, const PassContext& context) {
  return each_graph(model, context.shapes, fold_sizes_in);
}

}  // namespace berth::models
