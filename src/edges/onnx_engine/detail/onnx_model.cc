#include "edges/onnx_engine/detail/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/onnx_runtime/onnx_error.h"
#include "edges/onnx_runtime/onnx_values.h"

namespace berth::edges::detail {
namespace {

constexpr const char* kSpinningKey = "session.intra_op.allow_spinning";
constexpr const char* kSharedMemoryKey = "session.use_env_allocators";
constexpr const char* kNoPrepackingKey = "session.disable_prepacking";

/// On a card, the first runs show what later ones keep; asking the driver each time would take too long.
constexpr int kRunsMeasured = 64;

/// Bytes on the card; 0: no card, or it does not say.
std::int64_t free_on(const OnnxDevice& device) {
  return device.cuda == nullptr ? 0 : device.cuda->free_bytes().value_or(0);
}

Ort::SessionOptions session_options(const OnnxDevice& device, const OnnxLoad& load) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);  // a lane is one thread: that of the caller
  options.SetInterOpNumThreads(1);
  options.SetExecutionMode(ORT_SEQUENTIAL);
  options.AddConfigEntry(kSpinningKey, "0");
  options.AddConfigEntry(kSharedMemoryKey, "1");
  if (device.cuda != nullptr) use_cuda(options, *device.cuda);
  if (load.is_optimised) options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  if (!load.write_to.empty()) {
    options.SetOptimizedModelFilePath(load.write_to.c_str());
    options.AddConfigEntry(kNoPrepackingKey, "1");  // it will not run: without it, a copy of the weights less
  }
  return options;
}

std::vector<const char*> names_of(std::span<const TensorSignature> signatures) {
  std::vector<const char*> names;
  names.reserve(signatures.size());
  for (const TensorSignature& signature : signatures) names.push_back(signature.name.c_str());
  return names;
}

class OnnxRun final : public ModelRun {
 public:
  OnnxRun(const OnnxDevice& device, Ort::Session& session, std::span<const TensorSignature> outputs, RunBytes& bytes)
      : device_(device), session_(session), outputs_(outputs), bytes_(bytes) {}

  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override {
    const ThreadUse use(ThreadUse::Kind::kRun);
    try {
      const bool is_measured = device_.cuda != nullptr && bytes_.count_measured++ < kRunsMeasured;
      const std::int64_t free_before = is_measured ? free_on(device_) : 0;
      auto outputs = run_or_throw(inputs);
      if (is_measured) bytes_.bytes += std::max<std::int64_t>(free_before - free_on(device_), 0);
      if (device_.cuda == nullptr && use.bytes_peak() > bytes_.bytes) bytes_.bytes = use.bytes_peak();
      return outputs;
    } catch (const Ort::Exception& exception) {
      if (use.bytes_refused() > 0) return no_memory(use);
      if (is_stopped_) return fail(ErrorCode::kInterrupted, "the run was stopped");
      return tl::unexpected<Error>(error_of(exception));
    }
  }

  void stop() override {
    is_stopped_ = true;
    try {
      options_.SetTerminate();
    } catch (const Ort::Exception&) {  // setting a flag does not fail
    }
  }

 private:
  [[nodiscard]] Result<std::vector<Tensor>> run_or_throw(std::span<const Tensor> inputs) {
    std::vector<const char*> names;
    std::vector<Ort::Value> values;
    for (const Tensor& input : inputs) {
      names.push_back(input.name.c_str());
      values.push_back(value_of(input));
    }
    const std::vector<const char*> wanted = names_of(outputs_);
    const auto answers =
        session_.Run(options_, names.data(), values.data(), values.size(), wanted.data(), wanted.size());
    std::vector<Tensor> outputs;
    outputs.reserve(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      auto output = tensor_of(answers[i], outputs_[i].name);
      if (!output) return fail(ErrorCode::kUnavailable, outputs_[i].name + ": wanted a tensor, found another value");
      outputs.push_back(std::move(*output));
    }
    return outputs;
  }

  [[nodiscard]] tl::unexpected<Error> no_memory(const ThreadUse& use) const {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("the run took {} bytes of memory and wanted {} more, found less than that left of the {} for "
                    "models and their runs",
                    use.bytes_peak(), use.bytes_refused(), device_.memory.bytes_max()));
  }

  const OnnxDevice& device_;
  Ort::Session& session_;
  std::span<const TensorSignature> outputs_;
  RunBytes& bytes_;
  Ort::RunOptions options_;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<LoadedModel>> OnnxModel::load(const OnnxDevice& device, const OnnxLoad& load) {
  device.memory.trim();  // what runs keep is not reserved
  const std::int64_t free_before = free_on(device);
  try {
    const ThreadUse use(ThreadUse::Kind::kLoad);
    Ort::Session session(device.env, load.path.c_str(), session_options(device, load));
    const std::int64_t bytes =
        device.cuda == nullptr ? use.bytes() : std::max<std::int64_t>(free_before - free_on(device), 0);
    auto model = std::make_unique<OnnxModel>(device, std::move(session), bytes);
    if (auto read = model->read_signatures(); !read) return pass_on(read.error());
    return model;
  } catch (const Ort::Exception& exception) {
    if (device.cuda != nullptr && is_out_of_memory(exception.what())) {
      return fail(ErrorCode::kUnavailable, fmt::format("{} bytes were free on {}: {}", free_before, device.cuda->name(),
                                                       printable(exception.what())));
    }
    return tl::unexpected<Error>(error_of(exception));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kUnavailable, load.path + ": not enough memory");
  }
}

OnnxModel::~OnnxModel() {
  session_ = Ort::Session(nullptr);
  device_.memory.trim();
}

Result<void> OnnxModel::read_signatures() {
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session_.GetInputCount(); ++i) {
    auto signature = signature_of(session_.GetInputNameAllocated(i, allocator).get(), session_.GetInputTypeInfo(i));
    if (!signature) return pass_on(signature.error());
    inputs_.push_back(std::move(*signature));
  }
  for (std::size_t i = 0; i < session_.GetOutputCount(); ++i) {
    auto signature = signature_of(session_.GetOutputNameAllocated(i, allocator).get(), session_.GetOutputTypeInfo(i));
    if (!signature) return pass_on(signature.error());
    outputs_.push_back(std::move(*signature));
  }
  return {};
}

std::unique_ptr<ModelRun> OnnxModel::begin() {
  return std::make_unique<OnnxRun>(device_, session_, outputs_, run_bytes_);
}

}  // namespace berth::edges::detail
