/// What exceptions of ONNX Runtime mean.
#pragma once

#include <string>

#include "base/core/result.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges {

/// Messages of the library repeat names of the model's file, which may hold any bytes: control bytes become spaces,
/// bytes that are not UTF-8 question marks; a long message is cut.
[[nodiscard]] std::string printable(std::string message);

/// The failure that an exception of the library means.
[[nodiscard]] Error error_of(const Ort::Exception& exception);

}  // namespace berth::edges
