#include "edges/onnx_engine/onnx_engine.h"

#include <fmt/format.h>

#include <utility>

#include "edges/onnx_engine/detail/kept_models.h"
#include "edges/onnx_engine/detail/onnx_model.h"
#include "edges/onnx_engine/detail/shared_memory.h"
#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/onnx_runtime/onnx_error.h"
#include "edges/onnx_runtime/onnx_headers.h"
#include "edges/onnx_runtime/onnx_library.h"
#include "edges/onnx_runtime/processor_kind.h"

namespace berth::edges {
namespace {

class OnnxEngine final : public ModelEngine {
 public:
  /// Throws Ort::Exception.
  OnnxEngine(std::string version, Ort::Env env, OnnxEngineOptions options)
      : version_(std::move(version)),
        env_(std::move(env)),
        memory_(env_, options.run_bytes_max),
        device_{.env = env_, .memory = memory_.memory(), .cuda = options.cuda} {
    if (options.cache) {
      kept_.emplace(detail::ModelCache(*options.cache, fmt::format("onnxruntime-{}.{}", version_, kind())),
                    std::move(options.report));
    }
  }

  [[nodiscard]] std::string name() const override { return "ONNX Runtime " + version_; }
  [[nodiscard]] bool wants_sha256() const override { return kept_.has_value(); }
  [[nodiscard]] Result<std::unique_ptr<LoadedModel>> load(const ModelFile& file) override {
    const auto load = [this](const detail::OnnxLoad& how) { return detail::OnnxModel::load(device_, how); };
    return kept_ && !file.sha256.empty() ? kept_->load(file, load) : load({.path = file.path});
  }

 private:
  [[nodiscard]] std::string kind() const {
    return processor_kind() + (device_.cuda != nullptr ? "." + cuda_kind(*device_.cuda) : "");
  }

  std::string version_;
  Ort::Env env_;
  detail::SharedMemory memory_;
  detail::OnnxDevice device_;
  std::optional<detail::KeptModels> kept_;
};

}  // namespace

Result<std::unique_ptr<ModelEngine>> open_onnx_engine(OnnxEngineOptions options) {
  const auto library = OnnxLibrary::open(options.library_path);
  if (!library) return pass_on(library.error());
  if (options.cuda != nullptr) {
    if (auto checked = check_cuda_provider(options.library_path, *options.cuda); !checked) {
      return pass_on(checked.error());
    }
  }
  try {
    return std::make_unique<OnnxEngine>(library->version(), Ort::Env(ORT_LOGGING_LEVEL_FATAL, "berth"),
                                        std::move(options));
  } catch (const Ort::Exception& exception) {
    return tl::unexpected<Error>(error_of(exception));
  }
}

}  // namespace berth::edges
