// MIG: compute instances, and the attributes of MIG devices.
#include <algorithm>
#include <optional>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::HandleKind;
using edges::kTakesComputeInstance;
using edges::kTakesDevice;
using edges::kTakesGpuInstance;
using edges::library;
using edges::Subject;
using edges::Target;
using nvml_sim::Answer;
using nvml_sim::Caller;
using nvml_sim::ComputeProfile;
using nvml_sim::GpuInstanceRecord;
using nvml_sim::GpuRecord;
using nvml_sim::Interval;
using nvml_sim::Latency;
using nvml_sim::MachineRecord;

namespace {

const GpuInstanceRecord& gpu_instance_of(const Subject& subject) {
  return subject.gpu.gpu_instances[subject.target.gpu_instance];
}

/// Writes the engines of the GPU instance, which its compute instances share.
template <class Description>
void describe_engines(const Subject& subject, Description& description) {
  const ProfileId profile{gpu_instance_of(subject).profile};
  const mig::Engines engines = mig::profile_engines(nvml_sim::model_of(subject.gpu), profile);
  write_engines(engines, description);
}

template <class Description>
void describe_profile(const Subject& subject, const ComputeProfile& profile, Description& description) {
  describe_engines(subject, description);
  description.id = profile.id;
  description.slices = static_cast<std::uint32_t>(profile.slices);
  description.instances_max = static_cast<std::uint32_t>(profile.instances_max);
  description.multiprocessors = static_cast<std::uint32_t>(profile.sms);
}

/// Only one kind of engine profile exists here. kNotSupported: another one that NVML defines.
Answer<ComputeProfile> find_profile(const Subject& subject, std::uint32_t number, std::uint32_t engine_profile) {
  if (engine_profile >= kComputeInstanceEngineCount) return nvml_sim::refuse(Code::kInvalidArgument);
  return nvml_sim::compute_profile(subject.gpu, subject.target.gpu_instance, number);
}

Code check_version(const ComputeInstanceProfileV2* description) {
  if (description == nullptr) return Code::kInvalidArgument;
  const bool is_known = description->version == version_of<ComputeInstanceProfileV2>(2) ||
                        description->version == version_of<ComputeInstanceProfileV3>(3);
  return is_known ? Code::kSuccess : Code::kInvalidArgument;
}

ComputeInstance compute_handle(const MachineRecord& machine, const Target& gpu_instance, int id) {
  const Target target{.kind = HandleKind::kComputeInstance,
                      .gpu = gpu_instance.gpu,
                      .gpu_instance = gpu_instance.gpu_instance,
                      .compute_instance = id};
  return static_cast<ComputeInstance>(library().handle_of(machine, target));
}

Code create(const char* name, GpuInstance gpu_instance, std::uint32_t profile_id,
            const std::optional<Interval>& placement, Code arguments, ComputeInstance* instance) {
  const Call call{.name = name,
                  .handle = gpu_instance,
                  .takes = kTakesGpuInstance,
                  .arguments = arguments,
                  .latency = Latency::kCreateComputeInstance};
  void* made = nullptr;
  const auto creating = [&](GpuRecord& gpu, Target& target, const Caller& caller) {
    const Answer<int> id = nvml_sim::create_compute_instance(gpu, target.gpu_instance, profile_id, placement, caller);
    if (!id) return id.error();
    target.kind = HandleKind::kComputeInstance;
    target.compute_instance = *id;
    return Code::kSuccess;
  };
  const Code code = library().change(call, creating, &made);
  if (made != nullptr) *instance = static_cast<ComputeInstance>(made);
  return code;
}

/// The numbers that identify a compute instance.
template <class Description>
void describe_instance(const Subject& subject, Description& description) {
  const Target& target = subject.target;
  const Target parent{.kind = HandleKind::kGpuInstance, .gpu = target.gpu, .gpu_instance = target.gpu_instance};
  const auto& record = gpu_instance_of(subject).compute_instances[target.compute_instance];
  description.device = device_handle(subject.machine, target.gpu, {target.gpu_instance, target.compute_instance});
  description.gpu_instance = static_cast<GpuInstance>(library().handle_of(subject.machine, parent));
  description.id = static_cast<std::uint32_t>(target.compute_instance);
  description.profile_id = nvml_sim::compute_profile_of_slices(record.slices);
}

/// The shares of the device; its engines are those of its GPU instance.
template <class Attributes>
Code write_attributes(const Subject& subject, Attributes* attributes) {
  if (!is_mig(subject)) return Code::kNotSupported;  // as measured
  *attributes = Attributes{};
  describe_engines(subject, *attributes);
  const auto& record = gpu_instance_of(subject).compute_instances[subject.target.compute_instance];
  const auto profile = nvml_sim::compute_profile_by_id(subject.gpu, subject.target.gpu_instance,
                                                       nvml_sim::compute_profile_of_slices(record.slices));
  if (!profile) return Code::kUnknown;
  attributes->multiprocessors = static_cast<std::uint32_t>(profile->sms);
  return Code::kSuccess;
}

}  // namespace

extern "C" {

Code nvmlGpuInstanceGetComputeInstanceProfileInfo(GpuInstance gpu_instance, std::uint32_t profile,
                                                  std::uint32_t engine_profile, ComputeInstanceProfileV1* description) {
  const Call call{
      .name = __func__, .handle = gpu_instance, .takes = kTakesGpuInstance, .arguments = edges::all_given(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<ComputeProfile> found = find_profile(subject, profile, engine_profile);
    if (!found) return found.error();
    *description = ComputeInstanceProfileV1{};
    describe_profile(subject, *found, *description);
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceGetComputeInstanceProfileInfoV(GpuInstance gpu_instance, std::uint32_t profile,
                                                   std::uint32_t engine_profile,
                                                   ComputeInstanceProfileV2* description) {
  const Call call{
      .name = __func__, .handle = gpu_instance, .takes = kTakesGpuInstance, .arguments = check_version(description)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<ComputeProfile> found = find_profile(subject, profile, engine_profile);
    if (!found) return found.error();
    ComputeInstanceProfileV3 newest;  // version 2 is its beginning
    newest.version = description->version;
    describe_profile(subject, *found, newest);
    if (write_text(found->name, newest.name, sizeof(newest.name)) != Code::kSuccess) return Code::kUnknown;
    const bool is_newest = description->version == version_of<ComputeInstanceProfileV3>(3);
    std::memcpy(static_cast<void*>(description), &newest, is_newest ? sizeof(newest) : sizeof(*description));
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceGetComputeInstancePossiblePlacements(GpuInstance gpu_instance, std::uint32_t profile_id,
                                                         ComputeInstancePlacement* placements, std::uint32_t* count) {
  const Call call{
      .name = __func__, .handle = gpu_instance, .takes = kTakesGpuInstance, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) {
    const auto places = nvml_sim::compute_placements(subject.gpu, subject.target.gpu_instance, profile_id);
    if (!places) return places.error();
    *count = static_cast<std::uint32_t>(places->size());
    if (placements == nullptr) return Code::kSuccess;
    for (const Interval& place : *places) {
      *placements++ = {static_cast<std::uint32_t>(place.start), static_cast<std::uint32_t>(place.length)};
    }
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceGetComputeInstanceRemainingCapacity(GpuInstance gpu_instance, std::uint32_t profile_id,
                                                        std::uint32_t* count) {
  const Call call{
      .name = __func__, .handle = gpu_instance, .takes = kTakesGpuInstance, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) {
    const Answer<int> left = nvml_sim::remaining_compute_capacity(subject.gpu, subject.target.gpu_instance, profile_id);
    return left ? write(count, *left) : left.error();
  });
}

Code nvmlGpuInstanceCreateComputeInstance(GpuInstance gpu_instance, std::uint32_t profile_id,
                                          ComputeInstance* instance) {
  return create(__func__, gpu_instance, profile_id, std::nullopt, edges::all_given(instance), instance);
}

Code nvmlGpuInstanceCreateComputeInstanceWithPlacement(GpuInstance gpu_instance, std::uint32_t profile_id,
                                                       const ComputeInstancePlacement* placement,
                                                       ComputeInstance* instance) {
  std::optional<Interval> place;
  if (placement != nullptr) place = {static_cast<int>(placement->start), static_cast<int>(placement->size)};
  return create(__func__, gpu_instance, profile_id, place, edges::all_given(placement, instance), instance);
}

Code nvmlGpuInstanceGetComputeInstances(GpuInstance gpu_instance, std::uint32_t profile_id, ComputeInstance* instances,
                                        std::uint32_t* count) {
  const Call call{.name = __func__,
                  .handle = gpu_instance,
                  .takes = kTakesGpuInstance,
                  .arguments = edges::all_given(instances, count)};
  return library().ask(call, [&](const Subject& subject) {
    const auto ids = nvml_sim::compute_instances_of(subject.gpu, subject.target.gpu_instance, profile_id);
    if (!ids) return ids.error();
    *count = static_cast<std::uint32_t>(ids->size());
    for (const int id : *ids) *instances++ = compute_handle(subject.machine, subject.target, id);
    return Code::kSuccess;
  });
}

Code nvmlGpuInstanceGetComputeInstanceById(GpuInstance gpu_instance, std::uint32_t id, ComputeInstance* instance) {
  const Call call{
      .name = __func__, .handle = gpu_instance, .takes = kTakesGpuInstance, .arguments = edges::all_given(instance)};
  return library().ask(call, [&](const Subject& subject) {
    const bool is_there =
        id < nvml_sim::kComputeInstancesMax && gpu_instance_of(subject).compute_instances[id].is_there != 0;
    if (!is_there) return Code::kNotFound;
    *instance = compute_handle(subject.machine, subject.target, static_cast<int>(id));
    return Code::kSuccess;
  });
}

Code nvmlComputeInstanceGetInfo(ComputeInstance instance, ComputeInstanceDescriptionV1* description) {
  const Call call{
      .name = __func__, .handle = instance, .takes = kTakesComputeInstance, .arguments = edges::all_given(description)};
  return library().ask(call, [&](const Subject& subject) {
    describe_instance(subject, *description);
    return Code::kSuccess;
  });
}

Code nvmlComputeInstanceGetInfo_v2(ComputeInstance instance, ComputeInstanceDescriptionV2* description) {
  const Call call{
      .name = __func__, .handle = instance, .takes = kTakesComputeInstance, .arguments = edges::all_given(description)};
  return library().ask(call, [&](const Subject& subject) {
    describe_instance(subject, *description);
    const Interval place =
        nvml_sim::compute_place_of(subject.gpu, subject.target.gpu_instance, subject.target.compute_instance);
    description->placement = {static_cast<std::uint32_t>(place.start), static_cast<std::uint32_t>(place.length)};
    return Code::kSuccess;
  });
}

Code nvmlComputeInstanceDestroy(ComputeInstance instance) {
  const Call call{.name = __func__,
                  .handle = instance,
                  .takes = kTakesComputeInstance,
                  .latency = Latency::kDestroyComputeInstance};
  return library().change(call, [&](GpuRecord& gpu, Target& target, const Caller& caller) {
    return nvml_sim::destroy_compute_instance(gpu, target.gpu_instance, target.compute_instance, caller);
  });
}

Code nvmlDeviceGetAttributes(Device device, AttributesV1* attributes) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(attributes)};
  return library().ask(call, [&](const Subject& subject) { return write_attributes(subject, attributes); });
}

Code nvmlDeviceGetAttributes_v2(Device device, AttributesV2* attributes) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(attributes)};
  return library().ask(call, [&](const Subject& subject) {
    const Code code = write_attributes(subject, attributes);
    if (code != Code::kSuccess) return code;
    const GpuInstanceRecord& instance = gpu_instance_of(subject);
    const MigProfile& profile = nvml_sim::model_of(subject.gpu).profiles[instance.profile];
    attributes->gpu_instance_slices = static_cast<std::uint32_t>(profile.compute_slices);
    attributes->compute_instance_slices = instance.compute_instances[subject.target.compute_instance].slices;
    attributes->memory_mib = instance.memory_mib;
    return Code::kSuccess;
  });
}

}  // extern "C"

}  // namespace berth::nvml_abi
