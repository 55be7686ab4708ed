#include "gpu/nvml/detail/gpu_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml/detail/processes.h"
#include "gpu/nvml_abi/names.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::GpuInstance;

namespace {

/// The first call of every reading.
constexpr std::string_view kFirstCall = "nvmlDeviceGetMigMode";

/// Capacity for the handles of a list. The library does not check it, and no GPU has more than 16 instances of a kind.
constexpr std::uint32_t kHandlesMax = 256;

/// Calls a function that lists handles of one profile.
template <class Handle, class List, class Owner>
Code list_handles(List list, Owner owner, std::uint32_t profile_id, std::vector<Handle>& handles) {
  handles.assign(kHandlesMax, nullptr);
  std::uint32_t count = kHandlesMax;
  const Code code = list(owner, profile_id, handles.data(), &count);
  handles.resize(code == Code::kSuccess ? std::min(count, kHandlesMax) : 0);
  return code;
}

/// The word of an action, in lower case. Unknown actions of newer drivers are given as their number.
std::string word_of(std::uint32_t recovery_action) {
  std::string word(nvml_abi::find_name(nvml_abi::recovery_actions(), recovery_action));
  if (word.empty()) return fmt::format("action_{}", recovery_action);
  for (char& letter : word) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return word;
}

/// "none" also if the driver does not know recovery actions.
GpuAnswer<std::string> read_recovery_action(const Functions& functions, Device device) {
  constexpr std::string_view kCall = "nvmlDeviceGetFieldValues";
  std::string none = word_of(nvml_abi::kRecoveryActionNone);
  if (functions.nvmlDeviceGetFieldValues == nullptr) return none;
  nvml_abi::FieldValue field;
  field.field_id = nvml_abi::kFieldRecoveryAction;
  const Code code = functions.nvmlDeviceGetFieldValues(device, 1, &field);
  for (const Code each : {code, field.code}) {
    if (each == Code::kSuccess) continue;
    if (is_not_offered(each) || each == Code::kInvalidArgument) return none;
    return failed(kCall, each);
  }
  return word_of(field.value.unsigned_int);
}

/// The GPU's instance profiles.
GpuAnswer<const std::vector<ProfileSize>*> profiles_of_gpu(const Functions& functions, Device device,
                                                           KnownProfiles& known) {
  if (known.sizes.empty()) {
    auto sizes = read_profile_sizes(functions, device);
    if (!sizes) return tl::unexpected(sizes.error());
    if (sizes->empty()) return failed("nvmlDeviceGetGpuInstanceProfileInfo", Code::kNotFound);
    known.sizes = std::move(*sizes);
  }
  return &known.sizes;
}

/// The compute instance profiles of a GPU instance of this profile.
GpuAnswer<const std::vector<ProfileSize>*> profiles_of_instance(const Functions& functions, GpuInstance handle,
                                                                std::uint32_t profile_id, KnownProfiles& known) {
  const auto found = known.computes.find(profile_id);
  if (found != known.computes.end()) return &found->second;
  auto sizes = read_compute_profile_sizes(functions, handle);
  if (!sizes) return tl::unexpected(sizes.error());
  return &known.computes.emplace(profile_id, std::move(*sizes)).first->second;
}

/// The profile with that id; null: there is none.
const ProfileSize* find_size(const std::vector<ProfileSize>& sizes, std::uint32_t id) {
  const auto found = std::ranges::find(sizes, id, &ProfileSize::id);
  return found == sizes.end() ? nullptr : &*found;
}

/// The instances and devices collected on a GPU.
struct Collected {
  std::vector<GpuInstanceSeen> instances;
  std::vector<MigDeviceHandle> devices;
};

class Reader {
 public:
  Reader(const Functions& functions, Device device, KnownProfiles& profiles)
      : functions_(functions), device_(device), profiles_(profiles) {}

  GpuAnswer<Collected> read_instances();

 private:
  GpuAnswer<void> add_instance(GpuInstance handle);
  GpuAnswer<void> add_compute_instances(GpuInstance handle, GpuInstanceSeen& instance);
  GpuAnswer<void> add_compute_instance(nvml_abi::ComputeInstance handle, bool is_whole, GpuInstanceSeen& instance);
  GpuAnswer<void> describe_device(Device mig_device, ComputeInstanceSeen& compute) const;

  const Functions& functions_;
  Device device_;
  KnownProfiles& profiles_;
  Collected collected_;
};

GpuAnswer<Collected> Reader::read_instances() {
  const auto sizes = profiles_of_gpu(functions_, device_, profiles_);
  if (!sizes) return tl::unexpected(sizes.error());
  std::vector<GpuInstance> handles;
  for (const ProfileSize& profile : **sizes) {
    const Code code = list_handles(functions_.nvmlDeviceGetGpuInstances, device_, profile.id, handles);
    if (code != Code::kSuccess) return failed("nvmlDeviceGetGpuInstances", code);
    for (const GpuInstance handle : handles) {
      if (const auto added = add_instance(handle); !added) return tl::unexpected(added.error());
    }
  }
  std::ranges::sort(collected_.instances, {},
                    [](const GpuInstanceSeen& seen) { return std::pair(seen.start, seen.id); });
  return std::move(collected_);
}

GpuAnswer<void> Reader::add_instance(GpuInstance handle) {
  nvml_abi::GpuInstanceDescription description;
  const Code code = functions_.nvmlGpuInstanceGetInfo(handle, &description);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetInfo", code);
  GpuInstanceSeen instance{.id = description.id,
                           .profile_id = description.profile_id,
                           .start = static_cast<int>(description.placement.start),
                           .length = static_cast<int>(description.placement.size),
                           .compute_instances = {}};
  if (const auto added = add_compute_instances(handle, instance); !added) return added;
  collected_.instances.push_back(std::move(instance));
  return {};
}

GpuAnswer<void> Reader::add_compute_instances(GpuInstance handle, GpuInstanceSeen& instance) {
  const auto sizes = profiles_of_instance(functions_, handle, instance.profile_id, profiles_);
  if (!sizes) return tl::unexpected(sizes.error());
  const ProfileSize* const own = find_size(profiles_.sizes, instance.profile_id);
  std::vector<nvml_abi::ComputeInstance> handles;
  for (const ProfileSize& profile : **sizes) {
    const Code code = list_handles(functions_.nvmlGpuInstanceGetComputeInstances, handle, profile.id, handles);
    if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetComputeInstances", code);
    for (const nvml_abi::ComputeInstance compute : handles) {
      const bool is_whole = own != nullptr && own->slices == profile.slices;
      if (const auto added = add_compute_instance(compute, is_whole, instance); !added) return added;
    }
  }
  std::ranges::sort(instance.compute_instances, {}, &ComputeInstanceSeen::id);
  return {};
}

GpuAnswer<void> Reader::add_compute_instance(nvml_abi::ComputeInstance handle, bool is_whole,
                                             GpuInstanceSeen& instance) {
  nvml_abi::ComputeInstanceDescriptionV2 description;
  const Code code = functions_.nvmlComputeInstanceGetInfo_v2(handle, &description);
  if (code != Code::kSuccess) return failed("nvmlComputeInstanceGetInfo_v2", code);
  ComputeInstanceSeen compute{.id = description.id,
                              .start = static_cast<int>(description.placement.start),
                              .slices = static_cast<int>(description.placement.size),
                              .uuid = {},
                              .is_whole = is_whole};
  if (description.device != nullptr) {
    if (const auto described = describe_device(description.device, compute); !described) return described;
    collected_.devices.push_back({description.device, instance.id, compute.id});
  }
  instance.compute_instances.push_back(std::move(compute));
  return {};
}

GpuAnswer<void> Reader::describe_device(Device mig_device, ComputeInstanceSeen& compute) const {
  GpuAnswer<std::string> uuid = read_uuid(functions_, mig_device);
  if (!uuid) return tl::unexpected(uuid.error());
  compute.uuid = std::move(*uuid);
  nvml_abi::MemoryV1 memory;
  const Code code = functions_.nvmlDeviceGetMemoryInfo(mig_device, &memory);
  if (code == Code::kSuccess) compute.memory_mib = mib_of_bytes(memory.total_bytes);
  const bool is_hidden = is_not_offered(code) || code == Code::kNoPermission;
  if (code != Code::kSuccess && !is_hidden) return failed("nvmlDeviceGetMemoryInfo", code);
  return {};
}

}  // namespace

GpuAnswer<GpuReading> read_gpu(const Functions& functions, Device device, KnownProfiles& profiles) {
  std::uint32_t current = nvml_abi::kMigDisabled;
  std::uint32_t pending = nvml_abi::kMigDisabled;
  const Code code = functions.nvmlDeviceGetMigMode(device, &current, &pending);
  if (code != Code::kSuccess && !is_not_offered(code)) return failed(kFirstCall, code);

  GpuReading reading;
  reading.is_mig_on = code == Code::kSuccess && current == nvml_abi::kMigEnabled;
  reading.is_mig_pending_on = code == Code::kSuccess && pending == nvml_abi::kMigEnabled;
  GpuAnswer<std::string> recovery_action = read_recovery_action(functions, device);
  if (!recovery_action) return tl::unexpected(recovery_action.error());
  reading.recovery_action = std::move(*recovery_action);

  Collected collected;
  if (reading.is_mig_on) {
    GpuAnswer<Collected> found = Reader(functions, device, profiles).read_instances();
    if (!found) return tl::unexpected(found.error());
    collected = std::move(*found);
  }
  GpuAnswer<std::vector<GpuProcessSeen>> processes = read_processes(functions, device, collected.devices);
  if (!processes) return tl::unexpected(processes.error());
  reading.instances = std::move(collected.instances);
  reading.processes = std::move(*processes);
  return reading;
}

GpuAnswer<std::uint32_t> find_whole_profile(const Functions& functions, Device device, GpuInstance instance,
                                            KnownProfiles& profiles) {
  nvml_abi::GpuInstanceDescription description;
  const Code code = functions.nvmlGpuInstanceGetInfo(instance, &description);
  if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetInfo", code);
  const auto sizes = profiles_of_gpu(functions, device, profiles);
  if (!sizes) return tl::unexpected(sizes.error());
  const ProfileSize* const own = find_size(**sizes, description.profile_id);
  const auto computes = profiles_of_instance(functions, instance, description.profile_id, profiles);
  if (!computes) return tl::unexpected(computes.error());
  if (own != nullptr) {
    const auto whole = std::ranges::find(**computes, own->slices, &ProfileSize::slices);
    if (whole != (*computes)->end()) return whole->id;
  }
  return failed("nvmlGpuInstanceGetComputeInstanceProfileInfo", Code::kNotFound);
}

bool is_disturbed(const GpuCallFailure& failure) {
  const Code code{failure.code};
  return code == Code::kNotFound || code == Code::kInvalidArgument || code == Code::kNotSupported;
}

bool is_handle_invalid(const GpuCallFailure& failure) {
  return failure.call == kFirstCall && Code{failure.code} == Code::kInvalidArgument;
}

bool has_overlap(const GpuReading& reading) {
  int end = 0;
  for (const GpuInstanceSeen& instance : reading.instances) {
    if (instance.start < end) return true;
    end = instance.start + instance.length;
  }
  return false;
}

}  // namespace berth::edges::detail
