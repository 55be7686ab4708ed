#include "edges/onnx_probe/onnx_probe.h"

#include <fmt/format.h>

#include <fstream>
#include <new>
#include <utility>

#include "edges/onnx_probe/detail/footprint.h"
#include "edges/onnx_probe/detail/probed_model.h"
#include "edges/onnx_probe/detail/stop_watch.h"
#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/onnx_runtime/onnx_error.h"
#include "edges/onnx_runtime/onnx_library.h"
#include "edges/onnx_runtime/processor_kind.h"

namespace berth::edges {
namespace {

/// As the kernel module says it, such as "570.86.15".
std::string cuda_driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  return file >> version ? version : "of an unknown version";
}

class OnnxProbe final : public ModelProbe {
 public:
  /// Throws Ort::Exception.
  OnnxProbe(std::string version, OnnxProbeOptions options)
      : version_(std::move(version)),
        options_(std::move(options)),
        env_(ORT_LOGGING_LEVEL_FATAL, "berth"),
        watch_(options_.is_stopped, options_.deadline) {}

  [[nodiscard]] std::string name() const override { return "ONNX Runtime " + version_; }

  [[nodiscard]] std::string device() const override {
    if (options_.cuda == nullptr) return processor_kind();
    return fmt::format("{}, driver {}", options_.cuda->name(), cuda_driver_version());
  }

  [[nodiscard]] Result<std::unique_ptr<ProbedModel>> load(std::string_view model,
                                                          EngineOptimisation optimisation) override {
    if (watch_.is_over()) return fail(ErrorCode::kInterrupted, "the load was stopped");
    try {
      const auto options = detail::probe_session_options(optimisation, options_.cuda);
      return detail::OnnxProbedModel::make(Ort::Session(env_, model.data(), model.size(), options),
                                           {.watch = watch_, .cuda = options_.cuda});
    } catch (const Ort::Exception& exception) {
      return invalid(printable(exception.what()));
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::kUnavailable, "not enough memory to load the model");
    }
  }

  [[nodiscard]] Result<ModelFootprint> footprint(const std::string& path, std::span<const Tensor> inputs) override {
    if (watch_.is_over()) return fail(ErrorCode::kInterrupted, "the measurement was stopped");
    detail::FootprintCall call{.words = options_.footprint_command,
                               .deadline = std::chrono::steady_clock::now() + options_.footprint_time_max,
                               .is_stopped = [this] { return watch_.is_over(); }};
    call.words.push_back(options_.library_path);
    call.words.push_back(path);
    call.words.push_back(options_.cuda == nullptr ? "cpu" : std::to_string(options_.cuda->index()));
    return detail::footprint_by(call, inputs);
  }

 private:
  std::string version_;
  OnnxProbeOptions options_;
  Ort::Env env_;
  detail::StopWatch watch_;
};

}  // namespace

Result<std::unique_ptr<ModelProbe>> open_onnx_probe(OnnxProbeOptions options) {
  const auto library = OnnxLibrary::open(options.library_path);
  if (!library) return pass_on(library.error());
  if (options.cuda != nullptr) {
    if (auto checked = check_cuda_provider(options.library_path, *options.cuda); !checked) {
      return pass_on(checked.error());
    }
  }
  try {
    return std::make_unique<OnnxProbe>(library->version(), std::move(options));
  } catch (const Ort::Exception& exception) {
    return tl::unexpected<Error>(error_of(exception));
  }
}

}  // namespace berth::edges
