#include "edges/onnx_probe/detail/probed_model.h"

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <new>
#include <utility>

#include "base/core/ensure.h"
#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/onnx_runtime/onnx_error.h"
#include "edges/onnx_runtime/onnx_values.h"

namespace berth::edges::detail {
namespace {

constexpr const char* kSpinning = "session.intra_op.allow_spinning";

GraphOptimizationLevel level_of(EngineOptimisation optimisation) {
  switch (optimisation) {
    case EngineOptimisation::kNone:
      return ORT_DISABLE_ALL;
    case EngineOptimisation::kBasic:
      return ORT_ENABLE_BASIC;
    case EngineOptimisation::kAll:
      return ORT_ENABLE_ALL;
  }
  ENSURE(false);
}

std::vector<const char*> pointers_to(std::span<const std::string> names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

tl::unexpected<Error> stopped() { return fail(ErrorCode::kInterrupted, "the run was stopped"); }

/// On the processor the time that this thread was running: it does all the work. On a card it waits for others.
std::chrono::nanoseconds now(const CudaDevice* cuda) {
  timespec time{};
  ::clock_gettime(cuda == nullptr ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Ort::SessionOptions probe_session_options(EngineOptimisation optimisation, const CudaDevice* cuda) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetInterOpNumThreads(1);
  options.SetExecutionMode(ORT_SEQUENTIAL);
  options.AddConfigEntry(kSpinning, "0");
  options.SetGraphOptimizationLevel(level_of(optimisation));
  if (cuda != nullptr) use_cuda(options, *cuda);
  return options;
}

Result<std::unique_ptr<ProbedModel>> OnnxProbedModel::make(Ort::Session session, const Place& place) {
  auto model = std::make_unique<OnnxProbedModel>(std::move(session), place);
  if (auto read = model->read_signatures(); !read) return pass_on(read.error());
  return model;
}

OnnxProbedModel::~OnnxProbedModel() {
  session_ = Ort::Session(nullptr);
  malloc_trim(0);  // else the C library keeps what the session freed
}

Result<void> OnnxProbedModel::read_signatures() {
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session_.GetInputCount(); ++i) {
    auto input = signature_of(session_.GetInputNameAllocated(i, allocator).get(), session_.GetInputTypeInfo(i));
    if (!input) return pass_on(input.error());
    inputs_.push_back(std::move(*input));
  }
  for (std::size_t i = 0; i < session_.GetOutputCount(); ++i) {
    output_names_.emplace_back(session_.GetOutputNameAllocated(i, allocator).get());
    auto output = signature_of(output_names_.back(), session_.GetOutputTypeInfo(i));
    if (output) outputs_.push_back(std::move(*output));
  }
  return {};
}

OnnxProbedModel::Fed OnnxProbedModel::feed(std::span<const Tensor> inputs) {
  Fed fed;
  for (const Tensor& input : inputs) {
    fed.names.push_back(input.name.c_str());
    fed.values.push_back(value_of(input));
  }
  return fed;
}

tl::unexpected<Error> OnnxProbedModel::failed(const Ort::Exception& exception) const {
  return place_.watch.is_over() ? stopped() : tl::unexpected<Error>(error_of(exception));
}

Result<std::vector<Tensor>> OnnxProbedModel::run(std::span<const Tensor> inputs, std::span<const std::string> wanted) {
  if (place_.watch.is_over()) return stopped();
  try {
    Ort::RunOptions options;
    const StopWatch::Scope scope(place_.watch, options);
    const Fed fed = feed(inputs);
    const std::vector<const char*> names = pointers_to(wanted);
    const auto answers =
        session_.Run(options, fed.names.data(), fed.values.data(), fed.values.size(), names.data(), names.size());
    std::vector<Tensor> outputs;
    outputs.reserve(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      auto output = tensor_of(answers[i], wanted[i]);
      if (!output) return fail(ErrorCode::kUnavailable, wanted[i] + ": wanted a tensor, found another value");
      outputs.push_back(std::move(*output));
    }
    return outputs;
  } catch (const Ort::Exception& exception) {
    return failed(exception);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kUnavailable, "not enough memory for the outputs of a run");
  }
}

Result<std::chrono::nanoseconds> OnnxProbedModel::time(std::span<const Tensor> inputs, int runs) {
  ENSURE(runs > 0);
  if (place_.watch.is_over()) return stopped();
  try {
    Ort::RunOptions options;
    const StopWatch::Scope scope(place_.watch, options);
    const Fed fed = feed(inputs);
    const std::vector<const char*> names = pointers_to(output_names_);
    std::vector<Ort::Value> outputs;
    outputs.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) outputs.emplace_back(nullptr);
    const auto begin = now(place_.cuda);
    for (int i = 0; i < runs; ++i) {
      // The outputs of the run before go back to the arena: a run gets new ones, as in a server.
      for (Ort::Value& output : outputs) output = Ort::Value(nullptr);
      session_.Run(options, fed.names.data(), fed.values.data(), fed.values.size(), names.data(), outputs.data(),
                   names.size());
    }
    return (now(place_.cuda) - begin) / runs;
  } catch (const Ort::Exception& exception) {
    return failed(exception);
  }
}

}  // namespace berth::edges::detail
