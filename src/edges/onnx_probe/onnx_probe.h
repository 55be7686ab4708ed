/// ONNX Runtime as an engine under measurement.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "edges/cuda_device/cuda_device.h"

namespace berth::edges {

struct OnnxProbeOptions {
  std::string library_path;
  const CudaDevice* cuda = nullptr;  ///< where models run; nothing: on the processor
  /// The words with which a program calls `footprint_process`, which are given its arguments after them: such as
  /// "/proc/self/exe" and the name of a hidden mode. The first one is the program's file.
  std::vector<std::string> footprint_command = {};
  /// What a process that measures a footprint is given, before it is killed.
  std::chrono::seconds footprint_time_max = std::chrono::seconds(120);
  /// Runs end when it is true, with kInterrupted, and so do later ones. Called by a thread of the probe, every few
  /// milliseconds. Loads in this process cannot be stopped: they end, and then nothing runs.
  std::function<bool()> is_stopped = nullptr;
  /// Runs end then, too.
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

/// Errors: as OnnxLibrary::open; kInvalidInput if the provider for `cuda` is missing or of no use. The probe must
/// outlive its models. To be called before other threads start (OnnxLibrary). A crash of the library ends the program.
[[nodiscard]] Result<std::unique_ptr<ModelProbe>> open_onnx_probe(OnnxProbeOptions options);

}  // namespace berth::edges
