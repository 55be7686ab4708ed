#include "apps/serve/find_engine.h"

#include <cstdint>
#include <utility>

#ifdef BERTH_HAS_ONNX_ENGINE
#include "edges/onnx_engine/onnx_engine.h"
#include "edges/onnx_runtime/onnx_library.h"
#endif

namespace berth::serve {

#ifdef BERTH_HAS_ONNX_ENGINE

namespace {

/// What is reserved is measured with the runs of the first load. Others may be larger, by a little; 0: no limit.
std::int64_t run_bytes_max(const ServeDevice& device) {
  if (device.simulated || device.cuda) return 0;  // its bytes are not those of this machine
  return device.memory + device.memory / 20;
}

std::string library_path(const serving::ServeRequest& request) {
  if (request.engine) return *request.engine;
  return request.device == serving::DeviceKind::kCuda ? edges::onnx_cuda_library_path() : edges::onnx_library_path();
}

}  // namespace

Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest& request, const ServeDevice& device,
                                                 std::function<void(const std::string&)> report) {
  return edges::open_onnx_engine({.library_path = library_path(request),
                                  .cuda = device.cuda.get(),
                                  .cache = request.cache,
                                  .run_bytes_max = run_bytes_max(device),
                                  .report = std::move(report)});
}

Result<void> check_cuda_provider(const serving::ServeRequest& request) {
  return edges::find_cuda_provider(library_path(request), request.cuda_index);
}

#else

namespace {

constexpr const char* kNoHeaders =
    "wanted a program that was built with the headers of ONNX Runtime, found one without; scripts/setup gets them, "
    "then "
    "build it again";

}  // namespace

Result<std::unique_ptr<ModelEngine>> find_engine(const serving::ServeRequest&, const ServeDevice&,
                                                 std::function<void(const std::string&)>) {
  return invalid(kNoHeaders);
}

Result<void> check_cuda_provider(const serving::ServeRequest&) { return invalid(kNoHeaders); }

#endif

}  // namespace berth::serve
