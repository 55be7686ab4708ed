/// ONNX Runtime as an inference engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "edges/cuda_device/cuda_device.h"

namespace berth::edges {

struct OnnxEngineOptions {
  std::string library_path;
  const CudaDevice* cuda = nullptr;  ///< where models run; nothing: on the processor
  /// A folder for optimised models, so that later loads of the same content are faster. What is wrong with it never
  /// fails a load. Models with weights in other files are not kept: the sum of model.onnx says nothing of them.
  std::optional<std::string> cache = std::nullopt;
  /// Of all models and runs together: a run that would need more fails. 0: no limit.
  std::int64_t run_bytes_max = 0;
  /// Told what an operator should know of the cache. Any thread.
  std::function<void(const std::string& message)> report = [](const std::string&) {};
};

/// Errors: as OnnxLibrary::open; kInvalidInput if the provider for `cuda` is missing or of no use. The engine must
/// outlive its models. One engine at a time, and one library per process. To be called before other threads start
/// (OnnxLibrary).
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> open_onnx_engine(OnnxEngineOptions options);

}  // namespace berth::edges
