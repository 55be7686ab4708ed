#include "models/fuse/gemm.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

bool has_gemm(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble || type == ElementType::kFloat16;
}

/// Whether the value has as many elements as the product has columns, or one, in one row.
bool is_row(const Sweep& sweep, const std::string& value, std::int64_t columns) {
  const auto dims = sweep.dims(value);
  if (!dims || dims->empty() || dims->size() > 2) return false;
  if (dims->size() == 2 && dims->front() != 1) return false;
  return dims->back() == columns || dims->back() == 1;
}

bool is_matrix(const std::optional<std::vector<std::int64_t>>& dims) { return dims && dims->size() == 2; }

bool make_gemm_at(Sweep& sweep, std::size_t at) {
  const Node& add = sweep.node(at);
  if (!is_op(add, "Add") || add.inputs.size() != 2) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::optional<std::size_t> maker = sweep.sole_producer(add.inputs[side]);
    if (!maker || !is_op(sweep.node(*maker), "MatMul")) continue;
    const Node& product = sweep.node(*maker);
    const auto right = sweep.dims(product.inputs[1]);
    if (!is_matrix(sweep.dims(product.inputs[0])) || !is_matrix(right)) continue;
    const std::string& row = add.inputs[1 - side];
    if (right->back() < 0 || !is_row(sweep, row, right->back()) || !has_gemm(sweep.type(row))) continue;
    Node gemm = {.name = product.name,
                 .op = "Gemm",
                 .inputs = {product.inputs[0], product.inputs[1], row},
                 .outputs = add.outputs};
    sweep.erase(*maker);
    sweep.replace(at, std::move(gemm));
    return true;
  }
  return false;
}

}  // namespace

Result<bool> make_gemm(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, make_gemm_at);
}

}  // namespace berth::models
