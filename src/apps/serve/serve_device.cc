#include "apps/serve/serve_device.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "serving/simulation/device_file.h"

namespace berth::serve {
namespace {

constexpr std::int64_t kCpuMemory = std::int64_t{2} << 30;

/// Those that this process may use.
int core_count() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(CPU_COUNT(&cores), 1);
}

Result<ServeDevice> simulated_device(const serving::ServeRequest& request, const Files& files) {
  const auto text = files.read(request.device_file);
  if (!text) return pass_on(text.error());
  auto read = serving::read_device_file(*text, request.device_file);
  if (!read) return pass_on(read.error());
  const auto device = std::make_shared<const serving::SimulatedDevice>(std::move(*read));
  return ServeDevice{.name = device->name,
                     .description = "simulated: " + device->name,
                     .memory = request.memory.value_or(device->memory),
                     .lanes = device->lanes,
                     .simulated = [device](const std::string& model) { return device->terms_of(model); }};
}

}  // namespace

Result<ServeDevice> find_device(const serving::ServeRequest& request, const Files& files) {
  switch (request.device) {
    case serving::DeviceKind::kSimulated:
      return simulated_device(request, files);
    case serving::DeviceKind::kCuda:
      return invalid(
          fmt::format("--device cuda:{}: wanted libonnxruntime_providers_cuda.so beside the library of ONNX Runtime, "
                      "found none",
                      request.cuda_index));
    case serving::DeviceKind::kCpu:
      break;
  }
  return ServeDevice{.name = "cpu",
                     .description = "cpu",
                     .memory = request.memory.value_or(kCpuMemory),
                     .lanes = request.threads.value_or(core_count())};
}

}  // namespace berth::serve
