/// The other side of ModelProbe::footprint: the process that loads a model.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "edges/onnx_probe/onnx_probe.h"

namespace berth::edges {

/// To be called first thing by the program that `OnnxProbeOptions::footprint_command` starts, with the arguments after
/// those words; its result is the exit status. Reads the inputs from the standard input and writes the answer to
/// descriptor 3; prints nothing.
[[nodiscard]] int footprint_process(std::span<const std::string> arguments);

}  // namespace berth::edges
