#include "edges/nvml/detail/gpu_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "edges/nvml/detail/answers.h"
#include "edges/nvml/detail/gpu_facts.h"
#include "edges/nvml/detail/processes.h"
#include "nvml_abi/names.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::GpuInstance;

namespace {

/// With this call every reading begins.
constexpr std::string_view kFirstCall = "nvmlDeviceGetMigMode";

/// Room for the handles of a list. The library is not told it, and no GPU has more than 16 instances of a kind.
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

/// The word of an action, in lower case. Actions of newer drivers are named by their number.
std::string word_of(std::uint32_t recovery_action) {
  std::string word(nvml_abi::find_name(nvml_abi::recovery_actions(), recovery_action));
  if (word.empty()) return fmt::format("action_{}", recovery_action);
  for (char& letter : word) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return word;
}

/// "none" also where the driver does not know recovery actions.
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

/// Collects what stands on a GPU.
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
  GpuAnswer<void> add_compute_instance(nvml_abi::ComputeInstance handle, GpuInstanceSeen& instance);
  GpuAnswer<const std::vector<std::uint32_t>*> compute_profiles_of(GpuInstance handle, std::uint32_t profile_id);

  const Functions& functions_;
  Device device_;
  KnownProfiles& profiles_;
  Collected collected_;
};

GpuAnswer<Collected> Reader::read_instances() {
  if (profiles_.ids.empty()) {
    auto ids = read_profile_ids(functions_, device_);
    if (!ids) return tl::unexpected(ids.error());
    if (ids->empty()) return failed("nvmlDeviceGetGpuInstanceProfileInfo", Code::kNotFound);
    profiles_.ids = std::move(*ids);
  }
  std::vector<GpuInstance> handles;
  for (const std::uint32_t profile_id : profiles_.ids) {
    const Code code = list_handles(functions_.nvmlDeviceGetGpuInstances, device_, profile_id, handles);
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
  const auto profile_ids = compute_profiles_of(handle, instance.profile_id);
  if (!profile_ids) return tl::unexpected(profile_ids.error());
  std::vector<nvml_abi::ComputeInstance> handles;
  for (const std::uint32_t profile_id : **profile_ids) {
    const Code code = list_handles(functions_.nvmlGpuInstanceGetComputeInstances, handle, profile_id, handles);
    if (code != Code::kSuccess) return failed("nvmlGpuInstanceGetComputeInstances", code);
    for (const nvml_abi::ComputeInstance compute : handles) {
      if (const auto added = add_compute_instance(compute, instance); !added) return added;
    }
  }
  std::ranges::sort(instance.compute_instances, {}, &ComputeInstanceSeen::id);
  return {};
}

GpuAnswer<void> Reader::add_compute_instance(nvml_abi::ComputeInstance handle, GpuInstanceSeen& instance) {
  nvml_abi::ComputeInstanceDescriptionV2 description;
  const Code code = functions_.nvmlComputeInstanceGetInfo_v2(handle, &description);
  if (code != Code::kSuccess) return failed("nvmlComputeInstanceGetInfo_v2", code);
  ComputeInstanceSeen compute{.id = description.id,
                              .start = static_cast<int>(description.placement.start),
                              .slices = static_cast<int>(description.placement.size),
                              .uuid = {}};
  if (description.device != nullptr) {
    GpuAnswer<std::string> uuid = read_uuid(functions_, description.device);
    if (!uuid) return tl::unexpected(uuid.error());
    compute.uuid = std::move(*uuid);
    collected_.devices.push_back({description.device, instance.id, compute.id});
  }
  instance.compute_instances.push_back(std::move(compute));
  return {};
}

GpuAnswer<const std::vector<std::uint32_t>*> Reader::compute_profiles_of(GpuInstance handle, std::uint32_t profile_id) {
  const auto known = profiles_.computes.find(profile_id);
  if (known != profiles_.computes.end()) return &known->second;
  auto ids = read_compute_profile_ids(functions_, handle);
  if (!ids) return tl::unexpected(ids.error());
  return &profiles_.computes.emplace(profile_id, std::move(*ids)).first->second;
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
