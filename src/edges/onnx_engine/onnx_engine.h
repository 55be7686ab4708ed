/// ONNX Runtime on the processor, as an inference engine.
#pragma once

#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"

namespace berth::edges {

/// `library_path`: of the shared library. Errors: as OnnxLibrary::open. The engine must outlive its models. Only one
/// library per process: a later call with another path gives the first one.
[[nodiscard]] Result<std::unique_ptr<ModelEngine>> open_onnx_engine(const std::string& library_path);

}  // namespace berth::edges
