/// A model in memory: a session of ONNX Runtime, and its runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "edges/cuda_device/cuda_device.h"
#include "edges/onnx_engine/detail/model_memory.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges::detail {

/// Where models run. All are borrowed, and outlive the models.
struct OnnxDevice {
  const Ort::Env& env;
  ModelMemory& memory;               ///< of the processor
  const CudaDevice* cuda = nullptr;  ///< nothing: the processor
};

/// What a load does with the graph.
struct OnnxLoad {
  std::string path;
  bool is_optimised = false;  ///< the file holds what an earlier load wrote
  std::string write_to = {};  ///< a file for the optimised model, which is all that it is loaded for; empty: to run it
};

/// What the runs of a model take.
struct RunBytes {
  std::atomic<std::int64_t> bytes =
      0;  ///< on the processor: of the largest run; on a card: what it kept after its runs
  std::atomic<int> count_measured = 0;  ///< on a card
};

class OnnxModel final : public LoadedModel {
 public:
  /// Errors: kInvalidInput, with the library's message, also if an input or output is no tensor of a known type.
  [[nodiscard]] static Result<std::unique_ptr<LoadedModel>> load(const OnnxDevice& device, const OnnxLoad& load);
  OnnxModel(const OnnxDevice& device, Ort::Session session, std::int64_t bytes)
      : device_(device), session_(std::move(session)), bytes_(bytes) {}
  ~OnnxModel() override;

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return outputs_; }
  [[nodiscard]] std::unique_ptr<ModelRun> begin() override;
  [[nodiscard]] std::int64_t bytes() const override { return bytes_ + run_bytes_.bytes; }

 private:
  /// Reads the names, types and shapes. Throws Ort::Exception.
  [[nodiscard]] Result<void> read_signatures();

  OnnxDevice device_;
  Ort::Session session_;
  std::int64_t bytes_;  ///< without runs
  RunBytes run_bytes_;
  std::vector<TensorSignature> inputs_;
  std::vector<TensorSignature> outputs_;
};

}  // namespace berth::edges::detail
