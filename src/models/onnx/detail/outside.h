/// Weights in other files.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

#include "base/core/result.h"
#include "models/onnx/read_model.h"

namespace berth::models::detail {

/// Reads the elements of all tensors that are in other files into the model, also in graphs inside nodes, functions and
/// sparse tensors. Errors: those of read_model about weights outside. Requires: `bytes`, of the file itself, is at most
/// kModelBytesMax.
[[nodiscard]] Result<void> read_in_outside(onnx::ModelProto& model, std::uint64_t bytes,
                                           const ReadOutside& read_outside);

}  // namespace berth::models::detail
