#include "edges/onnx_runtime/onnx_values.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/core/ensure.h"

namespace berth::edges {
namespace {

constexpr std::array<std::pair<TensorType, ONNXTensorElementDataType>, 14> kTypes = {{
    {TensorType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {TensorType::kUint8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {TensorType::kUint16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {TensorType::kUint32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {TensorType::kUint64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {TensorType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {TensorType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {TensorType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {TensorType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {TensorType::kFp16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {TensorType::kBf16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {TensorType::kFp32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {TensorType::kFp64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {TensorType::kBytes, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING},
}};

ONNXTensorElementDataType element_type_of(TensorType type) {
  for (const auto& [own, theirs] : kTypes) {
    if (own == type) return theirs;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

Ort::Value text_value_of(const Tensor& tensor) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value = Ort::Value::CreateTensor(allocator, tensor.shape.data(), tensor.shape.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  for (std::size_t i = 0; i < tensor.texts.size(); ++i) {
    char* place = value.GetResizedStringTensorElementBuffer(i, tensor.texts[i].size());
    tensor.texts[i].copy(place, tensor.texts[i].size());
  }
  return value;
}

std::vector<std::string> texts_of(const Ort::Value& value, std::size_t count) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) texts.push_back(value.GetStringTensorElement(i));
  return texts;
}

}  // namespace

std::optional<TensorType> tensor_type_of(ONNXTensorElementDataType type) {
  for (const auto& [own, theirs] : kTypes) {
    if (theirs == type) return own;
  }
  return std::nullopt;
}

Ort::Value value_of(const Tensor& tensor) {
  if (tensor.type == TensorType::kBytes) return text_value_of(tensor);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  // The library takes inputs as mutable memory, and does not write to them.
  void* bytes = const_cast<char*>(tensor.bytes.data());
  return Ort::Value::CreateTensor(memory, bytes, tensor.bytes.size(), tensor.shape.data(), tensor.shape.size(),
                                  element_type_of(tensor.type));
}

std::optional<Tensor> tensor_of(const Ort::Value& value, const std::string& name) {
  if (!value.HasValue() || !value.IsTensor()) return std::nullopt;
  const auto info = value.GetTensorTypeAndShapeInfo();
  const auto type = tensor_type_of(info.GetElementType());
  if (!type) return std::nullopt;
  Tensor tensor{.name = name, .type = *type, .shape = info.GetShape()};
  const std::size_t count = info.GetElementCount();
  if (*type == TensorType::kBytes) {
    tensor.texts = texts_of(value, count);
  } else if (count > 0) {
    tensor.bytes.assign(static_cast<const char*>(value.GetTensorRawData()), count * element_bytes(*type));
  }
  return tensor;
}

Result<TensorSignature> signature_of(std::string name, const Ort::TypeInfo& info) {
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) {
    return invalid(fmt::format("{}: wanted a tensor, found a sequence, a map or an optional value", name));
  }
  const auto tensor = info.GetTensorTypeAndShapeInfo();
  const auto type = tensor_type_of(tensor.GetElementType());
  if (!type)
    return invalid(fmt::format("{}: wanted elements of a known type, found type {}", name,
                               static_cast<int>(tensor.GetElementType())));
  TensorSignature signature{.name = std::move(name), .type = *type, .shape = tensor.GetShape()};
  for (std::int64_t& size : signature.shape) size = size < 0 ? -1 : size;
  return signature;
}

}  // namespace berth::edges
