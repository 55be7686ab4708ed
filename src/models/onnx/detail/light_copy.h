/// Copies of models as messages, for the functions of libonnx that look at nodes and not at weights.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>

#include "models/graph/graph.h"

namespace berth::models::detail {

/// Weights of more bytes are left out of light copies.
inline constexpr std::size_t kLightBytesMax = 4'096;
[[nodiscard]] bool is_heavy(const Constant& constant);

/// Heavy weights have one byte of 0 instead; shape and type stay.
[[nodiscard]] ConstantPtr light(const ConstantPtr& constant);
/// Likewise, for initialisers and constants in attributes, also in graphs inside nodes.
[[nodiscard]] Graph without_weights(Graph graph);

/// The model as one message; copies its weights.
[[nodiscard]] onnx::ModelProto model_proto(const Model& model);

}  // namespace berth::models::detail
