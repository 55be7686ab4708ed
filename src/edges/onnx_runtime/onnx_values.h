/// Tensors as values of ONNX Runtime, and back.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges {

/// The type of elements; nothing if there is no such TensorType (complex numbers, 8-bit floats).
[[nodiscard]] std::optional<TensorType> tensor_type_of(ONNXTensorElementDataType type);

/// A value over the bytes of the tensor: they must live as long. Texts are copied. Throws Ort::Exception. Requires: as
/// many bytes or texts as the shape says.
[[nodiscard]] Ort::Value value_of(const Tensor& tensor);

/// The tensor with a copy of the value's elements; nothing if it is no tensor of a known type. Throws Ort::Exception.
[[nodiscard]] std::optional<Tensor> tensor_of(const Ort::Value& value, const std::string& name);

/// What the library says of an input or output of a model. Sizes that are not known are -1; a shape of which nothing is
/// known is empty. Throws Ort::Exception. Errors: no tensor, or elements without a TensorType.
[[nodiscard]] Result<TensorSignature> signature_of(std::string name, const Ort::TypeInfo& info);

}  // namespace berth::edges
