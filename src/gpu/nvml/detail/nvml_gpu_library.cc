#include "gpu/nvml/detail/nvml_gpu_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <string_view>
#include <thread>
#include <utility>

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml/detail/gpu_facts.h"
#include "gpu/nvml/detail/gpu_figures.h"
#include "gpu/nvml/detail/gpu_measurement.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

constexpr std::uint32_t kGpusMax = 1024;

/// A version as text; empty if the library does not report it.
template <class Ask>
std::string ask_version(Ask ask) {
  std::array<char, nvml_abi::kDriverVersionBytes> version{};
  const Code code = ask(version.data(), static_cast<std::uint32_t>(version.size()));
  return code == Code::kSuccess ? text_of(std::string_view(version.data(), version.size())) : std::string();
}

}  // namespace

/// The answer of a GPU.
struct FoundGpu {
  Device device = nullptr;  ///< null: it has no handle or no UUID
  std::string uuid = {};
  GpuAnswer<GpuFacts> facts;
};

namespace {

FoundGpu look_at(const Functions& functions, std::uint32_t index) {
  Device device = nullptr;
  const Code code = functions.nvmlDeviceGetHandleByIndex_v2(index, &device);
  if (code != Code::kSuccess) return {.facts = failed("nvmlDeviceGetHandleByIndex_v2", code)};
  GpuAnswer<std::string> uuid = read_uuid(functions, device);
  if (!uuid) return {.facts = tl::unexpected(uuid.error())};
  return {.device = device, .uuid = *uuid, .facts = read_facts(functions, device, *uuid)};
}

/// The state shared by the querying threads and the one that waits for them.
struct Listing {
  explicit Listing(std::size_t count) : found(count) {}
  std::mutex mutex;
  std::condition_variable has_answer;
  std::vector<std::optional<FoundGpu>> found;  ///< by index; under mutex
};

/// The answers of the GPUs that arrived in time.
std::vector<std::optional<FoundGpu>> wait_for_answers(Listing& listing) {
  constexpr std::chrono::seconds kPatience{10};
  std::unique_lock hold(listing.mutex);
  listing.has_answer.wait_for(hold, kPatience, [&] {
    return std::ranges::all_of(listing.found, [](const auto& found) { return found.has_value(); });
  });
  return listing.found;
}

/// The answer recorded for a GPU that has not answered.
FoundGpu silent() { return {.facts = failed("nvmlDeviceGetHandleByIndex_v2", Code::kTimeout)}; }

}  // namespace

void Unload::operator()(void* library) const { ::dlclose(library); }

NvmlGpuLibrary::NvmlGpuLibrary(LoadedLibrary library, const Functions& functions, std::string path)
    : library_(library.release(),
               [shut_down = functions.nvmlShutdown](void* loaded) {
                 shut_down();
                 if (loaded != nullptr) Unload()(loaded);
               }),
      functions_(functions) {
  facts_.path = std::move(path);
  facts_.library_version = ask_version(functions_.nvmlSystemGetNVMLVersion);
  facts_.driver_version = ask_version(functions_.nvmlSystemGetDriverVersion);
}

NvmlGpuLibrary::~NvmlGpuLibrary() = default;

GpuAnswer<std::uint32_t> NvmlGpuLibrary::count() const {
  std::uint32_t count = 0;
  const Code code = functions_.nvmlDeviceGetCount_v2(&count);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetCount_v2", code);
  return std::min(count, kGpusMax);
}

GpuAnswer<std::vector<GpuLibrary::Listed>> NvmlGpuLibrary::list() {
  const GpuAnswer<std::uint32_t> count = this->count();
  if (!count) return tl::unexpected(count.error());
  const auto listing = std::make_shared<Listing>(*count);
  for (std::uint32_t index = 0; index < *count; ++index) {
    std::thread([listing, index, functions = functions_, library = library_]() mutable {
      FoundGpu found = look_at(functions, index);
      library.reset();  // before the waiting thread, which may then open another library, is notified
      const std::scoped_lock hold(listing->mutex);
      listing->found[index] = std::move(found);
      listing->has_answer.notify_all();
    }).detach();
  }
  auto found = wait_for_answers(*listing);
  std::vector<Listed> listed;
  listed.reserve(found.size());
  for (std::uint32_t index = 0; index < found.size(); ++index) {
    listed.push_back(note(index, found[index] ? *std::move(found[index]) : silent()));
  }
  return listed;
}

GpuLibrary::Listed NvmlGpuLibrary::note(std::uint32_t index, FoundGpu found) {
  if (found.device == nullptr) return {uuid_at(index), std::move(found.facts)};
  static_cast<void>(remember(found.uuid, found.device));
  const std::lock_guard lock(mutex_);
  uuids_[index] = found.uuid;
  return {std::move(found.uuid), std::move(found.facts)};
}

std::string NvmlGpuLibrary::uuid_at(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = uuids_.find(index);
  return found == uuids_.end() ? std::string() : found->second;
}

GpuAnswer<GpuReading> NvmlGpuLibrary::read(const std::string& uuid) {
  constexpr int kReadingsMax = 4;
  GpuAnswer<Known*> gpu = find(uuid);
  if (!gpu) return tl::unexpected(gpu.error());
  GpuAnswer<GpuReading> reading = read_once(**gpu);
  for (int readings = 1; readings < kReadingsMax; ++readings) {
    if (reading && !has_overlap(*reading)) return reading;
    if (!reading && !is_disturbed(reading.error())) return reading;
    if (!reading && is_handle_invalid(reading.error())) {
      gpu = look_up(uuid);
      if (!gpu) return tl::unexpected(gpu.error());
    }
    reading = read_once(**gpu);
  }
  return reading;
}

GpuAnswer<GpuReading> NvmlGpuLibrary::read_once(Known& gpu) {
  Device device = nullptr;
  KnownProfiles profiles;
  {
    const std::lock_guard lock(gpu.mutex);
    device = gpu.device;
    profiles = gpu.profiles;
  }
  GpuAnswer<GpuReading> reading = read_gpu(functions_, device, profiles);
  learn(gpu, std::move(profiles));
  if (!reading) return reading;
  for (GpuProcessSeen& process : reading->processes) process.user = users_.user_of(process.pid);
  return reading;
}

GpuAnswer<GpuMeasurement> NvmlGpuLibrary::measure(const std::string& uuid) {
  const GpuAnswer<Device> device = device_of(uuid);
  if (!device) return tl::unexpected(device.error());
  return measure_gpu(functions_, *device);
}

GpuAnswer<GpuFigures> NvmlGpuLibrary::figures(const std::string& uuid, const std::vector<GpuInstanceSeen>& instances) {
  const GpuAnswer<Known*> gpu = find(uuid);
  if (!gpu) return tl::unexpected(gpu.error());
  Device device = nullptr;
  std::unique_ptr<ActivityMeter> meter;
  {
    const std::lock_guard lock((*gpu)->mutex);
    device = (*gpu)->device;
    meter = std::exchange((*gpu)->meter, nullptr);
  }
  if (meter == nullptr) meter = std::make_unique<ActivityMeter>(functions_);
  GpuAnswer<GpuFigures> figures = read_figures(functions_, device, instances, *meter);
  const std::lock_guard lock((*gpu)->mutex);
  (*gpu)->meter.swap(meter);  // of several questions at once, the meter of the last stays
  return figures;
}

void NvmlGpuLibrary::learn(Known& gpu, KnownProfiles profiles) {
  const std::lock_guard lock(gpu.mutex);
  gpu.profiles.computes.merge(profiles.computes);
  if (gpu.profiles.sizes.empty()) gpu.profiles.sizes = std::move(profiles.sizes);
}

GpuAnswer<Device> NvmlGpuLibrary::device_of(const std::string& uuid) {
  const GpuAnswer<Known*> gpu = find(uuid);
  if (!gpu) return tl::unexpected(gpu.error());
  const std::lock_guard lock((*gpu)->mutex);
  return (*gpu)->device;
}

GpuAnswer<std::uint32_t> NvmlGpuLibrary::whole_profile_of(const std::string& uuid, nvml_abi::GpuInstance instance) {
  const GpuAnswer<Known*> gpu = find(uuid);
  if (!gpu) return tl::unexpected(gpu.error());
  Device device = nullptr;
  KnownProfiles profiles;
  {
    const std::lock_guard lock((*gpu)->mutex);
    device = (*gpu)->device;
    profiles = (*gpu)->profiles;
  }
  const GpuAnswer<std::uint32_t> whole = find_whole_profile(functions_, device, instance, profiles);
  learn(**gpu, std::move(profiles));
  return whole;
}

GpuAnswer<std::optional<GpuNotice>> NvmlGpuLibrary::wait(const std::string& uuid, std::int64_t millis_max) {
  constexpr std::int64_t kWaitMillisMax = 60'000;
  GpuAnswer<Known*> gpu = find(uuid);
  if (!gpu) return tl::unexpected(gpu.error());
  Device device = nullptr;
  {
    const std::lock_guard lock((*gpu)->mutex);
    device = (*gpu)->device;
  }
  const std::int64_t millis = std::clamp<std::int64_t>(millis_max, 0, kWaitMillisMax);
  return (*gpu)->events.wait(device, static_cast<std::uint32_t>(millis));
}

GpuAnswer<NvmlGpuLibrary::Known*> NvmlGpuLibrary::find(const std::string& uuid) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = gpus_.find(uuid);
    if (found != gpus_.end()) return found->second.get();
  }
  return look_up(uuid);
}

GpuAnswer<NvmlGpuLibrary::Known*> NvmlGpuLibrary::look_up(const std::string& uuid) {
  Device device = nullptr;
  const Code code = functions_.nvmlDeviceGetHandleByUUID(uuid.c_str(), &device);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetHandleByUUID", code);
  return &remember(uuid, device);
}

NvmlGpuLibrary::Known& NvmlGpuLibrary::remember(const std::string& uuid, Device device) {
  Known* gpu = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Known>& place = gpus_[uuid];
    if (place == nullptr) place = std::make_unique<Known>(functions_);
    gpu = place.get();
  }
  const std::lock_guard lock(gpu->mutex);
  gpu->device = device;
  return *gpu;
}

}  // namespace berth::edges::detail
