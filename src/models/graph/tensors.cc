#include "models/graph/tensors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

struct TensorTypePair {
  TensorType tensor;
  ElementType element;
};

constexpr auto kTensorTypes = std::to_array<TensorTypePair>({
    {TensorType::kBool, ElementType::kBool},
    {TensorType::kUint8, ElementType::kUint8},
    {TensorType::kUint16, ElementType::kUint16},
    {TensorType::kUint32, ElementType::kUint32},
    {TensorType::kUint64, ElementType::kUint64},
    {TensorType::kInt8, ElementType::kInt8},
    {TensorType::kInt16, ElementType::kInt16},
    {TensorType::kInt32, ElementType::kInt32},
    {TensorType::kInt64, ElementType::kInt64},
    {TensorType::kFp16, ElementType::kFloat16},
    {TensorType::kBf16, ElementType::kBfloat16},
    {TensorType::kFp32, ElementType::kFloat},
    {TensorType::kFp64, ElementType::kDouble},
    {TensorType::kBytes, ElementType::kString},
});

}  // namespace

std::optional<TensorType> tensor_type_of(ElementType type) {
  const auto* const found = std::ranges::find(kTensorTypes, type, &TensorTypePair::element);
  if (found == kTensorTypes.end()) return std::nullopt;
  return found->tensor;
}

ElementType element_type_of(TensorType type) {
  const auto* const found = std::ranges::find(kTensorTypes, type, &TensorTypePair::tensor);
  ENSURE(found != kTensorTypes.end());
  return found->element;
}

Constant constant_of(Tensor tensor) {
  return {.type = element_type_of(tensor.type),
          .dims = std::move(tensor.shape),
          .bytes = std::move(tensor.bytes),
          .texts = std::move(tensor.texts)};
}

std::optional<Tensor> tensor_of(const Constant& constant, std::string name) {
  const std::optional<TensorType> type = tensor_type_of(constant.type);
  if (!type) return std::nullopt;
  return Tensor{
      .name = std::move(name), .type = *type, .shape = constant.dims, .bytes = constant.bytes, .texts = constant.texts};
}

}  // namespace berth::models
