/// A model in memory: a session of ONNX Runtime, and its runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "edges/onnx_engine/detail/onnx_headers.h"

namespace berth::edges::detail {

/// The failure that an exception of the library means.
[[nodiscard]] Error error_of(const Ort::Exception& exception);

/// What a load does with the graph.
struct OnnxLoad {
  std::string path;
  bool is_optimised = false;    ///< the file holds what an earlier load wrote
  std::string write_to = {};    ///< a file for the optimised model; empty: it is not kept
};

class OnnxModel final : public LoadedModel {
 public:
  /// Errors: kInvalidInput, with the library's message, also if an input or output is no tensor of a known type.
  [[nodiscard]] static Result<std::unique_ptr<LoadedModel>> load(const Ort::Env& env, const OnnxLoad& load);
  explicit OnnxModel(Ort::Session session) : session_(std::move(session)) {}
  ~OnnxModel() override;

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return outputs_; }
  [[nodiscard]] std::unique_ptr<ModelRun> begin() override;

 private:
  /// Reads the names, types and shapes. Throws Ort::Exception.
  [[nodiscard]] Result<void> read_signatures();

  Ort::Session session_;
  std::vector<TensorSignature> inputs_;
  std::vector<TensorSignature> outputs_;
};

}  // namespace berth::edges::detail
