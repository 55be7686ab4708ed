/// How the Open Inference Protocol writes tensors, over HTTP and gRPC alike: their binary form. In
/// it numbers are little-endian; each text of a BYTES tensor follows its length, in 4 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/tensor.h"
#include "serving/service/inference.h"

namespace berth::serving {

/// Texts of a tensor, so that a short message cannot claim a hundred times its size in memory.
inline constexpr std::int64_t kTextCountMax = 1'048'576;

/// The product of the dimensions; 1 without any. Nothing if a dimension is negative or the product above INT64_MAX.
[[nodiscard]] std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

/// `name`, `type` and `shape` of the head, with `data` in binary form. Errors: kMalformed, if `data` has not the bytes
/// or texts that the shape wants, or a BOOL is not 0 or 1; kTooLarge. They name the tensor.
[[nodiscard]] ServeResult<Tensor> tensor_of_binary(Tensor head, std::string data);

/// The binary form of its elements.
[[nodiscard]] std::string binary_of(Tensor tensor);

/// Such as `tensor "x" of FP32 with the shape [2,3]`: for messages.
[[nodiscard]] std::string tensor_label(const Tensor& tensor);

}  // namespace berth::serving
