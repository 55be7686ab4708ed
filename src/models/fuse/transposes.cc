#include "models/fuse/transposes.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

using Order = std::vector<std::int64_t>;

/// Nothing: it is to be reversed, and the number of dimensions is not known; or no order at all.
std::optional<Order> order_of(const Sweep& sweep, const Node& transpose) {
  Order order = attribute_or(transpose, "perm", Order());
  if (order.empty()) {
    const auto dims = sweep.dims(transpose.inputs.front());
    if (!dims) return std::nullopt;
    order.resize(dims->size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= std::ssize(order)) return std::nullopt;
  }
  return order;
}

bool merge_transpose(Sweep& sweep, std::size_t at) {
  const Node& outer = sweep.node(at);
  if (!is_op(outer, "Transpose")) return false;
  const std::optional<std::size_t> before = sweep.producer(outer.inputs.front());
  if (!before || !is_op(sweep.node(*before), "Transpose")) return false;
  const Node& inner = sweep.node(*before);
  const std::optional<Order> first = order_of(sweep, inner);
  const std::optional<Order> second = order_of(sweep, outer);
  if (!first || !second || first->size() != second->size()) return false;
  Node merged = outer;
  merged.inputs = inner.inputs;
  Order order;
  for (const std::int64_t axis : *second) order.push_back((*first)[static_cast<std::size_t>(axis)]);
  merged.attributes.insert_or_assign("perm", std::move(order));
  sweep.replace(at, std::move(merged));
  return true;
}

bool transpose_in(Sweep& sweep, std::size_t at) {
  const Node& gemm = sweep.node(at);
  if (!is_op(gemm, "Gemm")) return false;
  for (const auto& [input, attribute] : {std::pair(0, "transA"), std::pair(1, "transB")}) {
    const std::string& value = gemm.inputs[static_cast<std::size_t>(input)];
    const std::optional<std::size_t> before = sweep.producer(value);
    if (!before || !is_op(sweep.node(*before), "Transpose")) continue;
    if (order_of(sweep, sweep.node(*before)) != Order{1, 0}) continue;
    Node turned = gemm;
    turned.inputs[static_cast<std::size_t>(input)] = sweep.node(*before).inputs.front();
    turned.attributes.insert_or_assign(attribute, std::int64_t{1} - attribute_or(gemm, attribute, std::int64_t{0}));
    sweep.replace(at, std::move(turned));
    return true;
  }
  return false;
}

}  // namespace

Result<bool> merge_transposes(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, merge_transpose);
}

Result<bool> transpose_in_gemm(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, transpose_in);
}

}  // namespace berth::models
