/// Tensors between the file's format and ours.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

#include "base/core/result.h"
#include "models/graph/constant.h"

namespace berth::models::detail {

/// The number of elements. Errors: a negative size; more than a file can hold.
[[nodiscard]] Result<std::int64_t> read_count(const onnx::TensorProto& tensor);

/// Moves type, shape and elements out of the tensor; what stays in it is its name and what Constant does not have.
/// Errors, naming the tensor: more or fewer elements than its shape says, or of a type that does not hold them;
/// elements outside the file (outside.h reads them in); typed elements of an unknown type.
[[nodiscard]] Result<Constant> take_constant(onnx::TensorProto& tensor);

/// Puts type, shape and elements into `tensor`. The elements are copied; `put_shape` leaves them out.
void put_constant(const Constant& constant, onnx::TensorProto& tensor);
void put_shape(const Constant& constant, onnx::TensorProto& tensor);

}  // namespace berth::models::detail
