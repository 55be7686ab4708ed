#include "models/fuse/detail/known_dims.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/fuse/detail/operators.h"

namespace berth::models {
namespace {

using Sizes = KnownDims::Sizes;

/// Of two values combined element by element: 1 gives way to the other size.
Sizes broadcast_dims(const Sizes& left, const Sizes& right) {
  const Sizes& longer = left.size() >= right.size() ? left : right;
  const Sizes& shorter = left.size() >= right.size() ? right : left;
  Sizes dims = longer;
  const std::size_t ahead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = dims[ahead + i];
    if (dim == 1 || (dim < 0 && shorter[i] > 1)) dim = shorter[i];
  }
  return dims;
}

std::optional<Sizes> turned(const Node& transpose, const Sizes& from) {
  const auto order = attribute_or(transpose, "perm", std::vector<std::int64_t>());
  if (order.size() != from.size()) return std::nullopt;
  Sizes dims;
  for (const std::int64_t axis : order) dims.push_back(from[static_cast<std::size_t>(axis)]);
  return dims;
}

bool keeps_shape(const Node& node) {
  return is_elementwise(node) || node.op == "Softmax" || node.op == "LayerNormalization" ||
         node.op == "BatchNormalization" || node.op == "Dropout";
}

}  // namespace

std::optional<Sizes> KnownDims::of(std::string_view value) const {
  std::optional<Sizes> dims = sweep_.dims(value);
  if (dims) return dims;
  const auto learnt = learnt_.find(value);
  return learnt == learnt_.end() ? std::nullopt : std::optional(learnt->second);
}

void KnownDims::learn(const Node& node, const std::optional<Sizes>& target) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || of(node.outputs.front())) return;
  std::optional<Sizes> dims = inferred(node, target);
  if (dims) learnt_.insert_or_assign(node.outputs.front(), std::move(*dims));
}

std::optional<Sizes> KnownDims::inferred(const Node& node, const std::optional<Sizes>& target) const {
  if (node.op == "Reshape" && target) return reshaped(node, *target);
  const std::optional<Sizes> first = of(node.inputs.front());
  if (!first) return std::nullopt;
  if (keeps_shape(node)) return first;
  if (node.op == "Transpose") return turned(node, *first);
  if (node.op == "ReduceMean" || node.op == "ReduceSum" || node.op == "ReduceMax") return reduced(node, *first);
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.op == "MatMul") return product(node);
  const std::optional<Sizes> second = of(node.inputs[1]);
  const bool is_pairwise =
      node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div" || node.op == "Pow";
  return is_pairwise && second ? std::optional(broadcast_dims(*first, *second)) : std::nullopt;
}

std::optional<Sizes> KnownDims::reshaped(const Node& node, const Sizes& target) const {
  if (attribute_or(node, "allowzero", std::int64_t{0}) != 0) return std::nullopt;
  const Sizes from = of(node.inputs.front()).value_or(Sizes());
  Sizes dims = target;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) dims[i] = i < from.size() ? from[i] : -1;
  }
  return dims;
}

/// Only where the reduced dimensions stay, with size 1.
std::optional<Sizes> KnownDims::reduced(const Node& node, const Sizes& from) const {
  const auto axes = int64s_of(sweep_, node, "axes", 1);
  if (!axes || axes->empty() || attribute_or(node, "keepdims", std::int64_t{1}) != 1) return std::nullopt;
  Sizes dims = from;
  for (const std::int64_t axis : *axes) {
    const std::optional<std::int64_t> place = axis_from_front(axis, std::ssize(dims));
    if (!place) return std::nullopt;
    dims[static_cast<std::size_t>(*place)] = 1;
  }
  return dims;
}

std::optional<Sizes> KnownDims::product(const Node& node) const {
  const std::optional<Sizes> left = of(node.inputs[0]);
  const std::optional<Sizes> right = of(node.inputs[1]);
  if (!left || !right || left->size() < 2 || right->size() < 2) return std::nullopt;
  Sizes dims = broadcast_dims({left->begin(), left->end() - 2}, {right->begin(), right->end() - 2});
  dims.push_back((*left)[left->size() - 2]);
  dims.push_back(right->back());
  return dims;
}

}  // namespace berth::models
