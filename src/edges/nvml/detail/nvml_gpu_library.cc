#include "edges/nvml/detail/nvml_gpu_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "edges/nvml/detail/answers.h"
#include "edges/nvml/detail/gpu_facts.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

constexpr std::uint32_t kGpusMax = 1024;

/// A version as text; empty if the library does not say it.
template <class Ask>
std::string ask_version(Ask ask) {
  std::array<char, nvml_abi::kDriverVersionBytes> version{};
  const Code code = ask(version.data(), static_cast<std::uint32_t>(version.size()));
  return code == Code::kSuccess ? text_of(std::string_view(version.data(), version.size())) : std::string();
}

}  // namespace

void Unload::operator()(void* library) const { ::dlclose(library); }

NvmlGpuLibrary::NvmlGpuLibrary(LoadedLibrary library, const Functions& functions, std::string path)
    : library_(std::move(library)), functions_(functions) {
  facts_.path = std::move(path);
  facts_.library_version = ask_version(functions_.nvmlSystemGetNVMLVersion);
  facts_.driver_version = ask_version(functions_.nvmlSystemGetDriverVersion);
}

NvmlGpuLibrary::~NvmlGpuLibrary() {
  gpus_.clear();  // their events go before the library does
  functions_.nvmlShutdown();
}

GpuAnswer<std::uint32_t> NvmlGpuLibrary::count() const {
  std::uint32_t count = 0;
  const Code code = functions_.nvmlDeviceGetCount_v2(&count);
  if (code != Code::kSuccess) return failed("nvmlDeviceGetCount_v2", code);
  return std::min(count, kGpusMax);
}

GpuAnswer<std::vector<GpuLibrary::Listed>> NvmlGpuLibrary::list() {
  const GpuAnswer<std::uint32_t> count = this->count();
  if (!count) return tl::unexpected(count.error());
  std::vector<Listed> listed;
  listed.reserve(*count);
  for (std::uint32_t index = 0; index < *count; ++index) listed.push_back(list_one(index));
  return listed;
}

GpuLibrary::Listed NvmlGpuLibrary::list_one(std::uint32_t index) {
  Device device = nullptr;
  const Code code = functions_.nvmlDeviceGetHandleByIndex_v2(index, &device);
  if (code != Code::kSuccess) return {uuid_at(index), failed("nvmlDeviceGetHandleByIndex_v2", code)};
  GpuAnswer<std::string> uuid = read_uuid(functions_, device);
  if (!uuid) return {uuid_at(index), tl::unexpected(uuid.error())};
  static_cast<void>(remember(*uuid, device));
  {
    const std::lock_guard lock(mutex_);
    uuids_[index] = *uuid;
  }
  return {*uuid, read_facts(functions_, device, *uuid)};
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

GpuAnswer<GpuReading> NvmlGpuLibrary::read_once(Known& gpu) const {
  Device device = nullptr;
  KnownProfiles profiles;
  {
    const std::lock_guard lock(gpu.mutex);
    device = gpu.device;
    profiles = gpu.profiles;
  }
  GpuAnswer<GpuReading> reading = read_gpu(functions_, device, profiles);
  learn(gpu, std::move(profiles));
  return reading;
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
