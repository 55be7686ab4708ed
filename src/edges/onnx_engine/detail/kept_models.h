/// Loads of models that are kept as the library has optimised them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_engine.h"
#include "edges/onnx_engine/detail/model_cache.h"
#include "edges/onnx_engine/detail/onnx_model.h"

namespace berth::edges::detail {

class KeptModels {
 public:
  using Load = std::function<Result<std::unique_ptr<LoadedModel>>(const OnnxLoad&)>;

  KeptModels(ModelCache cache, std::function<void(const std::string&)> report)
      : report_(std::move(report)), cache_(std::move(cache)) {}

  /// Errors: those of `load` without the cache. Requires: the content's sum is known.
  [[nodiscard]] Result<std::unique_ptr<LoadedModel>> load(const ModelFile& file, const Load& load);

 private:
  /// Nothing if there is none, or it is of no use, which is said.
  [[nodiscard]] std::unique_ptr<LoadedModel> load_kept(const ModelFile& file, const Load& load);
  /// Whether it is in the cache now; false: it is not to be kept. It is not ready to run then: the library holds the
  /// weights twice when it has written them. Errors: those of writing and of `load`.
  [[nodiscard]] Result<bool> keep(const ModelFile& file, const Load& load);
  [[nodiscard]] Result<std::string> begin(const ModelFile& file);
  /// Says why a model is not kept, once, and does not try again.
  void refuse(const ModelFile& file, const std::string& reason);
  [[nodiscard]] bool is_refused(const ModelFile& file);

  std::function<void(const std::string&)> report_;
  std::mutex lock_;  ///< of the following
  ModelCache cache_;
  std::set<std::string> refused_;  ///< by content; at most as many as there were loads of different models
};

}  // namespace berth::edges::detail
