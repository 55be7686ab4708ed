/// The interface to an inference engine: loads models from files and runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/tensor.h"

namespace berth {

/// One run of a model. Its functions may be called by two threads: one runs, the other stops it.
class ModelRun {
 public:
  virtual ~ModelRun() = default;

  /// All outputs, in the order of the model. To be called once; it returns when the run has ended. The inputs must live
  /// until then. Errors: kInvalidInput if the engine refuses the inputs, kInterrupted after `stop`, else kUnavailable.
  [[nodiscard]] virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
  /// Lets the run end soon: after the kernel that is running. Any thread, at any time.
  virtual void stop() = 0;
};

/// A model in memory. Several runs may be under way at once. Destroying it gives its memory back; no run may be left.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;

  [[nodiscard]] virtual std::span<const TensorSignature> inputs() const = 0;
  [[nodiscard]] virtual std::span<const TensorSignature> outputs() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ModelRun> begin() = 0;
  /// The memory that its weights and its largest run so far take; 0: not known. Any thread.
  [[nodiscard]] virtual std::int64_t bytes() const { return 0; }
};

/// A model's file, and which content it has.
struct ModelFile {
  std::string path;
  std::string sha256 = {};  ///< of its content, 64 hexadecimal digits; empty: not known
  FileStamp stamp = {};     ///< of the content with that sum

  friend bool operator==(const ModelFile&, const ModelFile&) = default;
};

class ModelEngine {
 public:
  virtual ~ModelEngine() = default;

  /// Such as "ONNX Runtime 1.32.0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Reads a model's file and prepares it to run. Any thread. Errors: kInvalidInput if the file is no model that the
  /// engine can run, with the engine's message; kNotFound; kUnavailable if there is not enough memory.
  [[nodiscard]] virtual Result<std::unique_ptr<LoadedModel>> load(const ModelFile& file) = 0;
  /// Whether loads are faster if the sum of the file's content is known: they find what an earlier load has kept.
  [[nodiscard]] virtual bool wants_sha256() const { return false; }
};

}  // namespace berth
