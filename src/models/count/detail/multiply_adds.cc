#include "models/count/detail/multiply_adds.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "models/count/detail/total.h"

namespace berth::models::detail {
namespace {

enum class Form : std::uint8_t { kConvolution, kTransposedConvolution, kGemm, kProduct };

/// An operator that multiplies, and which of its inputs are the two factors.
struct Multiplication {
  std::string_view op;
  Form form;
  std::size_t first = 0;
  std::size_t second = 1;
};

constexpr std::array<Multiplication, 8> kMultiplications = {{
    {.op = "Conv", .form = Form::kConvolution},
    {.op = "ConvInteger", .form = Form::kConvolution},
    {.op = "QLinearConv", .form = Form::kConvolution, .second = 3},
    {.op = "ConvTranspose", .form = Form::kTransposedConvolution},
    {.op = "Gemm", .form = Form::kGemm},
    {.op = "MatMul", .form = Form::kProduct},
    {.op = "MatMulInteger", .form = Form::kProduct},
    {.op = "QLinearMatMul", .form = Form::kProduct, .second = 3},
}};

const Dims* dims_of(const std::string& name, const ValueShapes& shapes) {
  const auto shape = shapes.find(name);
  return shape != shapes.end() && shape->second.dims ? &*shape->second.dims : nullptr;
}

std::optional<std::int64_t> elements_of(const std::string& name, const ValueShapes& shapes) {
  const Dims* const dims = dims_of(name, shapes);
  return dims != nullptr ? product_of(std::span(*dims)) : std::nullopt;
}

/// The weights of a convolution are [outputs, inputs per group, window ...], of a transposed one [inputs, outputs per
/// group, window ...]: all but the first are what each element of the output sums up, or of the input reaches.
std::optional<std::int64_t> per_element(const Dims* weights) {
  if (weights == nullptr || weights->size() < 2) return std::nullopt;
  return product_of(std::span(*weights).subspan(1));
}

/// The sizes without the last two, filled up in front.
std::int64_t outer_size(const Dims& dims, std::size_t back) {
  return back + 2 < dims.size() ? dims[dims.size() - 3 - back] : 1;
}

/// Rows times columns times the inner length, for each matrix: as numpy.matmul, from the factors alone, because the
/// product of two vectors has no dimension.
std::optional<std::int64_t> product_adds(const Dims* left, const Dims* right) {
  if (left == nullptr || right == nullptr || left->empty() || right->empty()) return std::nullopt;
  std::optional<std::int64_t> count = left->back();
  count = product_of(count, left->size() > 1 ? (*left)[left->size() - 2] : 1);
  count = product_of(count, right->size() > 1 ? right->back() : 1);
  const std::size_t ranks = std::max(left->size(), right->size());
  for (std::size_t back = 0; back + 2 < ranks; ++back) {
    const std::int64_t a = outer_size(*left, back);
    const std::int64_t b = outer_size(*right, back);
    if (a < 0 || b < 0) return std::nullopt;
    count = product_of(count, a == 1 ? b : a);
  }
  return count;
}

std::optional<std::int64_t> gemm_adds(const Node& node, const Dims* left, const Dims* right) {
  if (left == nullptr || right == nullptr || left->size() != 2 || right->size() != 2) return std::nullopt;
  const std::int64_t columns = (*right)[attribute_or(node, "transB", std::int64_t{0}) != 0 ? 0 : 1];
  return product_of(product_of(std::span(*left)), columns);  // rows times the inner length are all of the left one
}

}  // namespace

std::optional<std::int64_t> multiply_adds(const Node& node, const ValueShapes& shapes) {
  if (!node.domain.empty()) return 0;
  const auto found = std::ranges::find(kMultiplications, node.op, &Multiplication::op);
  if (found == kMultiplications.end()) return 0;
  if (node.inputs.size() <= found->second || node.outputs.empty()) return std::nullopt;
  const std::string& first = node.inputs[found->first];
  const Dims* const second = dims_of(node.inputs[found->second], shapes);
  switch (found->form) {
    case Form::kConvolution:
      return product_of(elements_of(node.outputs[0], shapes), per_element(second));
    case Form::kTransposedConvolution:
      return product_of(elements_of(first, shapes), per_element(second));
    case Form::kGemm:
      return gemm_adds(node, dims_of(first, shapes), second);
    case Form::kProduct:
      return product_adds(dims_of(first, shapes), second);
  }
  return std::nullopt;
}

std::optional<std::int64_t> bytes_of_value(const std::string& name, const ValueShapes& shapes) {
  constexpr std::int64_t kByteBits = 8;
  const auto shape = shapes.find(name);
  if (shape == shapes.end()) return std::nullopt;
  const int bits = element_bits(shape->second.type);
  const auto all_bits = product_of(elements_of(name, shapes), bits);
  if (bits == 0 || !all_bits) return std::nullopt;
  return (*all_bits + kByteBits - 1) / kByteBits;
}

}  // namespace berth::models::detail
