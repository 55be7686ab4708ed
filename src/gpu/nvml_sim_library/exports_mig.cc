// MIG: the mode, GPU instances, and MIG devices.
#include <algorithm>
#include <optional>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mode.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::HandleKind;
using edges::kTakesDevice;
using edges::kTakesGpuInstance;
using edges::kTakesMigDevice;
using edges::library;
using edges::Subject;
using edges::Target;
using nvml_sim::Answer;
using nvml_sim::Caller;
using nvml_sim::GpuRecord;
using nvml_sim::Interval;
using nvml_sim::Latency;
using nvml_sim::MachineRecord;

namespace {

/// The fields common to all versions of a profile's description.
template <class Description>
void describe_profile(const GpuRecord& gpu, ProfileId id, Description& description) {
  const GpuModel& model = nvml_sim::model_of(gpu);
  const MigProfile& profile = model.profiles[id.index];
  const mig::Engines engines = mig::profile_engines(model, id);
  description.id = static_cast<std::uint32_t>(profile.device_profile_id);
  description.slices = static_cast<std::uint32_t>(profile.compute_slices);
  description.instances_max = static_cast<std::uint32_t>(profile.instances_max);
  description.multiprocessors = static_cast<std::uint32_t>(profile_sms(model, id));
  write_engines(engines, description);
  description.memory_mib = nvml_sim::memory_mib_of(model, id);
}

/// Versions 2 and 3, selected by the caller's first field. The driver clears that field, as measured.
Code describe_profile_versioned(const GpuRecord& gpu, ProfileId id, GpuInstanceProfileV2* description) {
  const MigProfile& profile = nvml_sim::model_of(gpu).profiles[id.index];
  const std::string name = "MIG " + profile.name;
  if (description->version == version_of<GpuInstanceProfileV2>(2)) {
    *description = GpuInstanceProfileV2{};
    describe_profile(gpu, id, *description);
    return write_text(name, description->name, sizeof(description->name));
  }
  GpuInstanceProfileV3 newest;
  newest.version = 0;
  describe_profile(gpu, id, newest);
  newest.capabilities = profile.is_graphics ? kGpuInstanceGfx : 0;
  const Code code = write_text(name, newest.name, sizeof(newest.name));
  std::memcpy(static_cast<void*>(description), &newest, sizeof(newest));
  return code;
}

Code check_version(const GpuInstanceProfileV2* description) {
  if (description == nullptr) return Code::kInvalidArgument;
  const bool is_known = description->version == version_of<GpuInstanceProfileV2>(2) ||
                        description->version == version_of<GpuInstanceProfileV3>(3);
  return is_known ? Code::kSuccess : Code::kInvalidArgument;  // as measured
}

Code list_placements(const char* name, Device device, std::uint32_t profile_id, GpuInstancePlacement* placements,
                     std::uint32_t* count) {
  const Call call{.name = name, .handle = device, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<std::vector<Interval>> places = nvml_sim::possible_placements(subject.gpu, profile_id);
    if (!places) return places.error();
    *count = static_cast<std::uint32_t>(places->size());
    if (placements == nullptr) return Code::kSuccess;
    for (const Interval& place : *places) {  // ignores the count passed in, as measured
      *placements++ = {static_cast<std::uint32_t>(place.start), static_cast<std::uint32_t>(place.length)};
    }
    return Code::kSuccess;
  });
}

GpuInstance instance_handle(const MachineRecord& machine, std::uint32_t gpu, int id) {
  const Target target{.kind = HandleKind::kGpuInstance, .gpu = gpu, .gpu_instance = id};
  return static_cast<GpuInstance>(library().handle_of(machine, target));
}

Code create(const char* name, Device device, std::uint32_t profile_id, const std::optional<Interval>& placement,
            Code arguments, GpuInstance* instance) {
  const Call call{.name = name, .handle = device, .arguments = arguments, .latency = Latency::kCreateGpuInstance};
  void* made = nullptr;
  const auto creating = [&](GpuRecord& gpu, Target& target, const Caller& caller) {
    const Answer<int> id = nvml_sim::create_gpu_instance(gpu, profile_id, placement, caller);
    if (!id) return id.error();
    target = {.kind = HandleKind::kGpuInstance, .gpu = target.gpu, .gpu_instance = *id};
    return Code::kSuccess;
  };
  const Code code = library().change(call, creating, &made);
  if (made != nullptr) *instance = static_cast<GpuInstance>(made);
  return code;
}

}  // namespace

extern "C" {

Code nvmlDeviceGetMigMode(Device device, std::uint32_t* current, std::uint32_t* pending) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(current, pending)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<nvml_sim::MigMode> mode = nvml_sim::mig_mode(subject.gpu);
    if (!mode) return mode.error();
    *current = mode->is_on ? kMigEnabled : kMigDisabled;
    return write(pending, mode->is_pending_on ? kMigEnabled : kMigDisabled);
  });
}

Code nvmlDeviceSetMigMode(Device device, std::uint32_t mode, Code* activation) {
  const Code arguments = mode > kMigEnabled ? Code::kInvalidArgument : edges::all_given(activation);
  const Call call{.name = __func__, .handle = device, .arguments = arguments, .latency = Latency::kSetMigMode};
  return library().change(call, [&](GpuRecord& gpu, Target&, const Caller& caller) {
    const Answer<Code> result = nvml_sim::set_mig_mode(gpu, mode == kMigEnabled, caller);
    if (!result) return result.error();
    return write(activation, *result);
  });
}

Code nvmlDeviceGetGpuInstanceProfileInfo(Device device, std::uint32_t profile, GpuInstanceProfileV1* description) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<ProfileId> id = nvml_sim::gpu_instance_profile(subject.gpu, profile);
    if (!id) return id.error();
    *description = GpuInstanceProfileV1{};
    describe_profile(subject.gpu, *id, *description);
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetGpuInstanceProfileInfoV(Device device, std::uint32_t profile, GpuInstanceProfileV2* description) {
  const Call call{.name = __func__, .handle = device, .arguments = check_version(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<ProfileId> id = nvml_sim::gpu_instance_profile(subject.gpu, profile);
    return id ? describe_profile_versioned(subject.gpu, *id, description) : id.error();
  });
}

Code nvmlDeviceGetGpuInstanceProfileInfoByIdV(Device device, std::uint32_t profile_id,
                                              GpuInstanceProfileV2* description) {
  const Call call{.name = __func__, .handle = device, .arguments = check_version(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<ProfileId> id = nvml_sim::gpu_instance_profile_by_id(subject.gpu, profile_id);
    return id ? describe_profile_versioned(subject.gpu, *id, description) : id.error();
  });
}

Code nvmlDeviceGetGpuInstancePossiblePlacements_v2(Device device, std::uint32_t profile_id,
                                                   GpuInstancePlacement* placements, std::uint32_t* count) {
  return list_placements(__func__, device, profile_id, placements, count);
}
Code nvmlDeviceGetGpuInstancePossiblePlacements(Device device, std::uint32_t profile_id,
                                                GpuInstancePlacement* placements, std::uint32_t* count) {
  return list_placements(__func__, device, profile_id, placements, count);
}

Code nvmlDeviceGetGpuInstanceRemainingCapacity(Device device, std::uint32_t profile_id, std::uint32_t* count) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<int> capacity = nvml_sim::remaining_capacity(subject.gpu, profile_id);
    return capacity ? write(count, *capacity) : capacity.error();
  });
}

Code nvmlDeviceCreateGpuInstance(Device device, std::uint32_t profile_id, GpuInstance* instance) {
  return create(__func__, device, profile_id, std::nullopt, edges::all_given(instance), instance);
}

Code nvmlDeviceCreateGpuInstanceWithPlacement(Device device, std::uint32_t profile_id,
                                              const GpuInstancePlacement* placement, GpuInstance* instance) {
  const Code arguments = edges::all_given(placement, instance);
  std::optional<Interval> place;
  if (placement != nullptr) place = {static_cast<int>(placement->start), static_cast<int>(placement->size)};
  return create(__func__, device, profile_id, place, arguments, instance);
}

Code nvmlDeviceGetGpuInstances(Device device, std::uint32_t profile_id, GpuInstance* instances, std::uint32_t* count) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(instances, count)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<std::vector<int>> ids = nvml_sim::gpu_instances_of(subject.gpu, profile_id);
    if (!ids) return ids.error();
    *count = static_cast<std::uint32_t>(ids->size());
    for (const int id : *ids) *instances++ = instance_handle(subject.machine, subject.target.gpu, id);
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetGpuInstanceById(Device device, std::uint32_t id, GpuInstance* instance) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(instance)};
  return library().ask(call, [&](const Subject& subject) {
    const bool is_there = id < nvml_sim::kGpuInstancesMax && subject.gpu.gpu_instances[id].is_there != 0;
    if (!nvml_sim::model_of(subject.gpu).is_mig_capable()) return Code::kNotSupported;
    if (!is_there) return Code::kNotFound;
    *instance = instance_handle(subject.machine, subject.target.gpu, static_cast<int>(id));
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceGetInfo(GpuInstance instance, GpuInstanceDescription* description) {
  const Call call{
      .name = __func__, .handle = instance, .takes = kTakesGpuInstance, .arguments = edges::all_given(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Interval place = nvml_sim::place_of(subject.gpu, subject.target.gpu_instance);
    const auto& record = subject.gpu.gpu_instances[subject.target.gpu_instance];
    const MigProfile& profile = nvml_sim::model_of(subject.gpu).profiles[record.profile];
    *description = {.device = device_handle(subject.machine, subject.target.gpu),
                    .id = static_cast<std::uint32_t>(subject.target.gpu_instance),
                    .profile_id = static_cast<std::uint32_t>(profile.device_profile_id),
                    .placement = {static_cast<std::uint32_t>(place.start), static_cast<std::uint32_t>(place.length)}};
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceDestroy(GpuInstance instance) {
  const Call call{
      .name = __func__, .handle = instance, .takes = kTakesGpuInstance, .latency = Latency::kDestroyGpuInstance};
  return library().change(call, [&](GpuRecord& gpu, Target& target, const Caller& caller) {
    return nvml_sim::destroy_gpu_instance(gpu, target.gpu_instance, caller);
  });
}

Code nvmlDeviceIsMigDeviceHandle(Device device, std::uint32_t* is_mig_device) {
  const Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(is_mig_device)};
  return library().ask(call, [&](const Subject& subject) { return write(is_mig_device, is_mig(subject) ? 1 : 0); });
}

Code nvmlDeviceGetGpuInstanceId(Device device, std::uint32_t* id) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesMigDevice, .arguments = edges::all_given(id)};
  return library().ask(call, [&](const Subject& subject) { return write(id, subject.target.gpu_instance); });
}

Code nvmlDeviceGetComputeInstanceId(Device device, std::uint32_t* id) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesMigDevice, .arguments = edges::all_given(id)};
  return library().ask(call, [&](const Subject& subject) { return write(id, subject.target.compute_instance); });
}

Code nvmlDeviceGetMaxMigDeviceCount(Device device, std::uint32_t* count) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(count)};
  return library().ask(call,
                       [&](const Subject& subject) { return write(count, nvml_sim::mig_devices_max(subject.gpu)); });
}

Code nvmlDeviceGetMigDeviceHandleByIndex(Device device, std::uint32_t index, Device* mig_device) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(mig_device)};
  return library().ask(call, [&](const Subject& subject) {
    const std::vector<nvml_sim::MigDevice> devices = nvml_sim::mig_devices(subject.gpu);
    if (index >= devices.size()) return Code::kNotFound;
    *mig_device = device_handle(subject.machine, subject.target.gpu, devices[index]);
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device mig_device, Device* device) {
  const Call call{
      .name = __func__, .handle = mig_device, .takes = kTakesMigDevice, .arguments = edges::all_given(device)};
  return library().ask(call, [&](const Subject& subject) {
    *device = device_handle(subject.machine, subject.target.gpu);
    return Code::kSuccess;
  });
}

}  // extern "C"

}  // namespace berth::nvml_abi
