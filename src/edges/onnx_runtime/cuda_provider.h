/// Sessions on a CUDA device.
#pragma once

#include <string>

#include "base/core/result.h"
#include "edges/cuda_device/cuda_device.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges {

/// Nodes that the device can run go there, the others stay on the processor. Throws Ort::Exception: the provider or a
/// library that it needs is missing.
void use_cuda(Ort::SessionOptions& options, const CudaDevice& device);

/// The provider is a library next to that of ONNX Runtime. Errors, kInvalidInput: there is none, with the command that
/// gets it; it cannot be used, with the library's message.
[[nodiscard]] Result<void> check_cuda_provider(const std::string& library_path, const CudaDevice& device);

/// Whether the library says that the device has no memory left.
[[nodiscard]] bool is_out_of_memory(const std::string& message);

/// The device as a part of a file's name: letters, digits and dashes.
[[nodiscard]] std::string cuda_kind(const CudaDevice& device);

}  // namespace berth::edges
