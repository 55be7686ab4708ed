/// The interface to an inference engine under measurement: it loads models that were just written, gives any values of
/// them, and times their runs. Serving uses `model_engine.h`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"

namespace berth {

/// How much the engine rewrites a model when it loads it. kBasic: what does not depend on the processor.
enum class EngineOptimisation : std::uint8_t { kNone, kBasic, kAll };

/// A model that was loaded to be measured. One thread.
class ProbedModel {
 public:
  virtual ~ProbedModel() = default;

  [[nodiscard]] virtual std::span<const TensorSignature> inputs() const = 0;
  /// Those that are tensors of a known TensorType. An empty shape: one element, or the number of dimensions is unknown.
  [[nodiscard]] virtual std::span<const TensorSignature> outputs() const = 0;
  /// The outputs `wanted`, in that order. Errors: kInvalidInput if the engine refuses the inputs; kUnavailable if the
  /// run fails; kInterrupted after the probe's deadline or an interrupt.
  [[nodiscard]] virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs,
                                                        std::span<const std::string> wanted) = 0;
  /// The time of one run of all outputs: the mean of `runs` in a row, without conversion of inputs and outputs. Where
  /// the thread of the caller does all the work, it is the time that this thread was running, so that other processes
  /// hardly matter. Errors: as `run`. Requires: runs > 0.
  [[nodiscard]] virtual Result<std::chrono::nanoseconds> time(std::span<const Tensor> inputs, int runs) = 0;
};

/// What a process that loads one model and runs it once is measured to take, beyond what the engine takes for the
/// smallest model.
struct ModelFootprint {
  std::chrono::microseconds load = {};  ///< of the engine that has loaded a model before
  std::int64_t loaded_bytes = 0;        ///< resident memory after the load, less that before
  std::int64_t run_bytes = 0;           ///< resident memory at its peak after a run, less that before the load

  friend bool operator==(const ModelFootprint&, const ModelFootprint&) = default;
};

class ModelProbe {
 public:
  virtual ~ModelProbe() = default;

  /// Such as "ONNX Runtime 1.32.0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// What the measurements hold for: the flags of the processor that matter, or the card and its driver.
  [[nodiscard]] virtual std::string device() const = 0;
  /// Loads the bytes of an ONNX file without outside weights. One thread, which does not spin. Errors: kInvalidInput
  /// with the engine's message.
  [[nodiscard]] virtual Result<std::unique_ptr<ProbedModel>> load(std::string_view model,
                                                                  EngineOptimisation optimisation) = 0;
  /// Loads the file at `path` in a process of its own, with all optimisations, and runs it once with `inputs`.
  [[nodiscard]] virtual Result<ModelFootprint> footprint(const std::string& path, std::span<const Tensor> inputs) = 0;
};

}  // namespace berth
