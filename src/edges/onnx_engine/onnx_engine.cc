#include "edges/onnx_engine/onnx_engine.h"

#include <utility>

#include "edges/onnx_engine/detail/onnx_headers.h"
#include "edges/onnx_engine/detail/onnx_model.h"
#include "edges/onnx_engine/onnx_library.h"

namespace berth::edges {
namespace {

class OnnxEngine final : public ModelEngine {
 public:
  OnnxEngine(std::string version, Ort::Env env) : version_(std::move(version)), env_(std::move(env)) {}

  [[nodiscard]] std::string name() const override { return "ONNX Runtime " + version_; }
  [[nodiscard]] Result<std::unique_ptr<LoadedModel>> load(const std::string& path) override {
    return detail::OnnxModel::load(env_, path);
  }

 private:
  std::string version_;
  Ort::Env env_;
};

}  // namespace

Result<std::unique_ptr<ModelEngine>> open_onnx_engine(const std::string& library_path) {
  const auto library = OnnxLibrary::open(library_path);
  if (!library) return pass_on(library.error());
  Ort::InitApi(&library->api());
  try {
    return std::make_unique<OnnxEngine>(library->version(), Ort::Env(ORT_LOGGING_LEVEL_FATAL, "berth"));
  } catch (const Ort::Exception& exception) {
    return tl::unexpected<Error>(detail::error_of(exception));
  }
}

}  // namespace berth::edges
