#include "edges/onnx_probe/footprint_process.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/archive.h"
#include "domain/values/tensor.h"
#include "edges/onnx_probe/detail/footprint_answer.h"
#include "edges/onnx_probe/detail/probed_model.h"
#include "edges/onnx_runtime/cuda_provider.h"
#include "edges/onnx_runtime/onnx_error.h"
#include "edges/onnx_runtime/onnx_library.h"

namespace berth::edges {
namespace {

constexpr std::int64_t kKib = 1024;

/// A number of a file of /proc, in bytes: "Rss:    123 kB". 0: it is not there.
std::int64_t proc_bytes(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == key && file >> kib) return kib * kKib;
  }
  return 0;
}

/// Counted page by page: the counters of /proc/self/statm may be behind by a few pages for each processor.
std::int64_t resident_bytes() {
  ::malloc_trim(0);  // what was freed is no longer needed
  return proc_bytes("/proc/self/smaps_rollup", "Rss:");
}

/// From now on the kernel's peak is that of what follows. Where it may not be set, it stays that of the load.
bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
  file.close();
  return !file.fail();
}

std::int64_t peak_bytes() { return proc_bytes("/proc/self/status", "VmHWM:"); }

std::string read_standard_input() {
  std::string bytes;
  std::array<char, std::size_t{1} << 16U> block{};
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
  }
}

/// Of the CUDA device with the index that the text is; nothing for "cpu".
Result<std::unique_ptr<CudaDevice>> open_device(const std::string& text) {
  if (text == "cpu") return nullptr;
  int index = 0;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return CudaDevice::open(index);
}

/// The first model makes the library read its tables of operators, whatever the model: 9 MB and 10 ms that are not the
/// model's. Throws Ort::Exception.
void load_smallest(const Ort::Env& env, const Ort::SessionOptions& options) {
  // y = Identity(x), for one float: version 8 of the format and 17 of the operators (onnx.proto).
  constexpr std::string_view kTensor = "\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01";  // type { float, [1] }
  constexpr std::string_view kNode = "\x0a\x10\x0a\x01x\x12\x01y\x22\x08Identity";
  const std::string input = fmt::format("\x5a\x0f\x0a\x01x{}", kTensor);
  const std::string output = fmt::format("\x62\x0f\x0a\x01y{}", kTensor);
  const std::string graph = fmt::format("{}\x12\x01g{}{}", kNode, input, output);
  const std::string model = fmt::format("\x08\x08\x3a{}{}\x42\x02\x10\x11", static_cast<char>(graph.size()), graph);
  const Ort::Session session(env, model.data(), model.size(), options);
}

/// Throws Ort::Exception.
Result<detail::FootprintAnswer> measure_or_throw(const std::string& path, std::span<const Tensor> inputs,
                                                 const CudaDevice* cuda) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "berth");
  const auto options = detail::probe_session_options(EngineOptimisation::kAll, cuda);
  load_smallest(env, options);
  const std::int64_t before = resident_bytes();
  const auto begin = std::chrono::steady_clock::now();
  Ort::Session session(env, path.c_str(), options);
  const auto load = std::chrono::steady_clock::now() - begin;
  const std::int64_t loaded = resident_bytes();
  const bool has_peak = reset_peak();
  detail::StopWatch watch(nullptr, std::nullopt);
  const auto model = detail::OnnxProbedModel::make(std::move(session), {.watch = watch, .cuda = cuda});
  if (!model) return pass_on(model.error());
  if (const auto time = (*model)->time(inputs, 1); !time) return pass_on(time.error());
  const std::int64_t peak = std::max(has_peak ? peak_bytes() : 0, resident_bytes());
  return detail::FootprintAnswer{
      .is_measured = true,
      .load_us = std::chrono::duration_cast<std::chrono::microseconds>(load).count(),
      .loaded_bytes = std::max<std::int64_t>(loaded - before, 0),
      .run_bytes = std::max<std::int64_t>(peak - before, 0),
  };
}

Result<detail::FootprintAnswer> measure(std::span<const std::string> arguments) {
  if (arguments.size() != 3) return invalid("wanted a library, a model and a device");
  const auto library = OnnxLibrary::open(arguments[0]);
  if (!library) return pass_on(library.error());
  const auto cuda = open_device(arguments[2]);
  if (!cuda) return pass_on(cuda.error());
  const auto inputs = from_bytes<std::vector<Tensor>>(read_standard_input());
  if (!inputs) return invalid("wanted inputs of the model at the standard input");
  try {
    return measure_or_throw(arguments[1], *inputs, cuda->get());
  } catch (const Ort::Exception& exception) {
    return tl::unexpected<Error>(error_of(exception));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kUnavailable, arguments[1] + ": not enough memory");
  }
}

}  // namespace

int footprint_process(std::span<const std::string> arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the process that wants to know
  const auto measured = measure(arguments);
  const detail::FootprintAnswer answer =
      measured ? *measured
               : detail::FootprintAnswer{.error = measured.error().code, .message = measured.error().message};
  const std::string bytes = bytes_of(answer);
  return ::write(detail::kAnswerDescriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : 1;
}

}  // namespace berth::edges
