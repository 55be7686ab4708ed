#include "apps/serve/serve_device.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/serve/find_engine.h"
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

/// What is free now, less what runs and the library itself will take.
std::int64_t cuda_memory(std::int64_t free_bytes) { return free_bytes / 10 * 9; }

Result<ServeDevice> cuda_device(const serving::ServeRequest& request) {
  if (auto provider = check_cuda_provider(request); !provider) return pass_on(provider.error());
  auto opened = edges::CudaDevice::open(request.cuda_index);
  if (!opened) return invalid("--device " + opened.error().message);
  const std::shared_ptr<const edges::CudaDevice> cuda = *std::move(opened);
  const auto free_bytes = cuda->free_bytes();
  if (!free_bytes) return invalid("--device " + free_bytes.error().message);
  return ServeDevice{.name = fmt::format("cuda:{}", request.cuda_index),
                     .description = fmt::format("cuda:{}: {}", request.cuda_index, cuda->name()),
                     .memory = request.memory.value_or(cuda_memory(*free_bytes)),
                     .lanes = 1,
                     .cuda = cuda};
}

}  // namespace

Result<ServeDevice> find_device(const serving::ServeRequest& request, const Files& files) {
  switch (request.device) {
    case serving::DeviceKind::kSimulated:
      return simulated_device(request, files);
    case serving::DeviceKind::kCuda:
      return cuda_device(request);
    case serving::DeviceKind::kCpu:
      break;
  }
  return ServeDevice{.name = "cpu",
                     .description = "cpu",
                     .memory = request.memory.value_or(kCpuMemory),
                     .lanes = request.threads.value_or(core_count())};
}

}  // namespace berth::serve
