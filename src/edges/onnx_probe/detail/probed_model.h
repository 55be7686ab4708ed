/// A session of ONNX Runtime under measurement.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "edges/cuda_device/cuda_device.h"
#include "edges/onnx_probe/detail/stop_watch.h"
#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges::detail {

/// One thread, which does not spin. Throws Ort::Exception.
[[nodiscard]] Ort::SessionOptions probe_session_options(EngineOptimisation optimisation, const CudaDevice* cuda);

/// Where a model runs, and what may end its runs. Both are borrowed.
struct Place {
  StopWatch& watch;
  const CudaDevice* cuda = nullptr;  ///< nothing: on the processor, by the thread of the caller
};

class OnnxProbedModel final : public ProbedModel {
 public:
  /// Errors: kInvalidInput if an input is no tensor of a known type. Throws Ort::Exception.
  [[nodiscard]] static Result<std::unique_ptr<ProbedModel>> make(Ort::Session session, const Place& place);
  OnnxProbedModel(Ort::Session session, const Place& place) : session_(std::move(session)), place_(place) {}
  ~OnnxProbedModel() override;

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return outputs_; }
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs,
                                                std::span<const std::string> wanted) override;
  [[nodiscard]] Result<std::chrono::nanoseconds> time(std::span<const Tensor> inputs, int runs) override;

 private:
  /// Values over the memory of tensors, which must outlive them.
  struct Fed {
    std::vector<const char*> names;
    std::vector<Ort::Value> values;
  };
  [[nodiscard]] static Fed feed(std::span<const Tensor> inputs);
  [[nodiscard]] Result<void> read_signatures();
  /// Of a failed run.
  [[nodiscard]] tl::unexpected<Error> failed(const Ort::Exception& exception) const;

  Ort::Session session_;
  Place place_;
  std::vector<TensorSignature> inputs_;
  std::vector<TensorSignature> outputs_;
  std::vector<std::string> output_names_;  ///< of all, also those that are no tensors
};

}  // namespace berth::edges::detail
