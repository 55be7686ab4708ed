// The identity of a device: names, numbers, places.
#include <algorithm>
#include <string>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::kTakesDevice;
using edges::library;
using edges::Subject;
using nvml_sim::GpuRecord;

namespace {

const mig::Board& board_of(const Subject& subject) { return mig::board_of(nvml_sim::model_of(subject.gpu)); }

/// "0000:07:00.0" of "00000000:07:00.0"
std::string_view legacy_bus_id(const GpuRecord& gpu) { return std::string_view(gpu.bus_id).substr(4); }

std::uint32_t architecture_number(mig::Architecture architecture) {
  switch (architecture) {
    case mig::Architecture::kVolta:
      return kArchitectureVolta;
    case mig::Architecture::kTuring:
      return kArchitectureTuring;
    case mig::Architecture::kAmpere:
      return kArchitectureAmpere;
    case mig::Architecture::kAda:
      return kArchitectureAda;
    case mig::Architecture::kHopper:
      return kArchitectureHopper;
    case mig::Architecture::kBlackwell:
      return kArchitectureBlackwell;
    case mig::Architecture::kUnknown:
      return kArchitectureUnknown;
  }
  return kArchitectureUnknown;
}

/// Cores of one SM, by compute capability. Source: CUDA C++ Programming Guide.
std::uint32_t cores_per_sm(const mig::Board& board) {
  const bool has_64 = board.compute_capability_major <= 7 ||
                      (board.compute_capability_major == 8 && board.compute_capability_minor == 0);
  return has_64 ? 64 : 128;
}

/// "NVIDIA A100-SXM4-80GB MIG 3g.40gb", with "1c." where the compute instance is smaller.
std::string name_of(const Subject& subject) {
  std::string name = board_of(subject).name;
  if (!is_mig(subject)) return name;
  const GpuModel& model = nvml_sim::model_of(subject.gpu);
  const auto& instance = subject.gpu.gpu_instances[subject.target.gpu_instance];
  const MigProfile& profile = model.profiles[instance.profile];
  const int slices = instance.compute_instances[subject.target.compute_instance].slices;
  name += " MIG ";
  if (slices != profile.compute_slices) name += std::to_string(slices) + "c.";
  return name + profile.name;
}

Code write_place(const GpuRecord& gpu, PciPlaceV3& place) {
  place.domain = gpu.pci_domain;
  place.bus = gpu.pci_bus;
  place.device = 0;
  place.device_id = gpu.pci_device_id;
  place.subsystem_id = gpu.pci_device_id;
  if (write_text(legacy_bus_id(gpu), place.bus_id_legacy, sizeof(place.bus_id_legacy)) != Code::kSuccess)
    return Code::kUnknown;
  return write_text(gpu.bus_id, place.bus_id, sizeof(place.bus_id));
}

}  // namespace

extern "C" {

Code nvmlDeviceGetIndex(Device device, std::uint32_t* index) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(index)};
  return library().ask(call, [&](const Subject& subject) {
    if (!is_mig(subject)) return write(index, subject.gpu.index);
    const auto devices = nvml_sim::mig_devices(subject.gpu);
    return write(index, std::ranges::find(devices, mig_device_of(subject)) - devices.begin());
  });
}

Code nvmlDeviceGetUUID(Device device, char* uuid, std::uint32_t length) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(uuid)};
  return library().ask(call, [&](const Subject& subject) {
    if (!is_mig(subject)) return write_text(subject.gpu.uuid, uuid, length);
    return write_text(nvml_sim::mig_uuid(subject.gpu, mig_device_of(subject)), uuid, length);
  });
}

Code nvmlDeviceGetName(Device device, char* name, std::uint32_t length) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(name)};
  return library().ask(call, [&](const Subject& subject) { return write_text(name_of(subject), name, length); });
}

Code nvmlDeviceGetSerial(Device device, char* serial, std::uint32_t length) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(serial)};
  return library().ask(call, [&](const Subject& subject) { return write_text(subject.gpu.serial, serial, length); });
}

Code nvmlDeviceGetBoardPartNumber(Device device, char* part_number, std::uint32_t length) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(part_number)};
  return library().ask(call, [&](const Subject&) { return write_text("000-00000-0000-000", part_number, length); });
}

Code nvmlDeviceGetVbiosVersion(Device device, char* version, std::uint32_t length) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(version)};
  return library().ask(call, [&](const Subject&) { return write_text("00.00.00.00.00", version, length); });
}

Code nvmlDeviceGetGspFirmwareVersion(Device device, char* version) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(version)};
  return library().ask(call, [&](const Subject& subject) {
    return write_text(subject.machine.driver, version, kGspFirmwareVersionBytes);
  });
}

Code nvmlDeviceGetGspFirmwareMode(Device device, std::uint32_t* is_enabled, std::uint32_t* is_default) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(is_enabled, is_default)};
  return library().ask(call, [&](const Subject&) {
    *is_enabled = kEnabled;
    return write(is_default, kEnabled);
  });
}

Code nvmlDeviceGetMinorNumber(Device device, std::uint32_t* number) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(number)};
  return library().ask(call, [&](const Subject& subject) {
    return is_mig(subject) ? Code::kNotSupported : write(number, subject.gpu.index);
  });
}

Code nvmlDeviceGetPciInfo_v3(Device device, PciPlaceV3* place) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(place)};
  return library().ask(call, [&](const Subject& subject) { return write_place(subject.gpu, *place); });
}

Code nvmlDeviceGetPciInfo_v2(Device device, PciPlaceV2* place) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(place)};
  return library().ask(call, [&](const Subject& subject) {
    place->domain = subject.gpu.pci_domain;
    place->bus = subject.gpu.pci_bus;
    place->device = 0;
    place->device_id = subject.gpu.pci_device_id;
    place->subsystem_id = subject.gpu.pci_device_id;
    return write_text(legacy_bus_id(subject.gpu), place->bus_id, sizeof(place->bus_id));
  });
}

Code nvmlDeviceGetPciInfo(Device device, PciPlaceV2* place) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(place)};
  return library().ask(call, [&](const Subject& subject) {  // callers may have no space after `device_id`
    place->domain = subject.gpu.pci_domain;
    place->bus = subject.gpu.pci_bus;
    place->device = 0;
    place->device_id = subject.gpu.pci_device_id;
    return write_text(legacy_bus_id(subject.gpu), place->bus_id, sizeof(place->bus_id));
  });
}

Code nvmlDeviceGetPciInfoExt(Device device, PciPlaceExtendedV1* place) {
  constexpr std::uint32_t kDisplayController = 0x03;
  constexpr std::uint32_t k3dController = 0x02;
  const Code arguments = edges::versioned(place, version_of<PciPlaceExtendedV1>(1), Code::kArgumentVersionMismatch);
  const edges::Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = arguments};
  return library().ask(call, [&](const Subject& subject) {
    place->domain = subject.gpu.pci_domain;
    place->bus = subject.gpu.pci_bus;
    place->device = 0;
    place->device_id = subject.gpu.pci_device_id;
    place->subsystem_id = subject.gpu.pci_device_id;
    place->base_class = kDisplayController;
    place->sub_class = k3dController;
    return write_text(subject.gpu.bus_id, place->bus_id, sizeof(place->bus_id));
  });
}

Code nvmlDeviceGetBoardId(Device device, std::uint32_t* board_id) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(board_id)};
  return library().ask(call, [&](const Subject& subject) {
    return write(board_id, subject.gpu.pci_domain << 16U | subject.gpu.pci_bus << 8U);
  });
}

Code nvmlDeviceGetModuleId(Device device, std::uint32_t* id) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(id)};
  return library().ask(call, [&](const Subject& subject) { return write(id, subject.gpu.index); });
}

Code nvmlDeviceGetMultiGpuBoard(Device device, std::uint32_t* has_several_gpus) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(has_several_gpus)};
  return library().ask(call, [&](const Subject&) { return write(has_several_gpus, 0); });
}

Code nvmlDeviceGetBrand(Device device, std::uint32_t* brand) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(brand)};
  return library().ask(call, [&](const Subject& subject) {
    const std::string& name = board_of(subject).name;
    if (name.find("RTX") != std::string::npos) return write(brand, kBrandNvidiaRtx);
    return write(brand, name.starts_with("Tesla") ? kBrandTesla : kBrandNvidia);
  });
}

Code nvmlDeviceGetBusType(Device device, std::uint32_t* bus) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(bus)};
  return library().ask(call, [&](const Subject&) { return write(bus, kBusPcie); });
}

Code nvmlDeviceGetArchitecture(Device device, std::uint32_t* architecture) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(architecture)};
  return library().ask(call, [&](const Subject& subject) {
    return write(architecture, architecture_number(board_of(subject).architecture));
  });
}

Code nvmlDeviceGetCudaComputeCapability(Device device, std::int32_t* major, std::int32_t* minor) {
  const edges::Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(major, minor)};
  return library().ask(call, [&](const Subject& subject) {
    *major = board_of(subject).compute_capability_major;
    return write(minor, board_of(subject).compute_capability_minor);
  });
}

Code nvmlDeviceGetNumGpuCores(Device device, std::uint32_t* count) {
  const edges::Call call{.name = __func__, .handle = device, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) {
    const auto sms = static_cast<std::uint32_t>(nvml_sim::model_of(subject.gpu).sms);
    return write(count, sms * cores_per_sm(board_of(subject)));
  });
}

Code nvmlDeviceGetTopologyCommonAncestor(Device device, Device other, std::uint32_t* level) {
  const edges::Call second{.name = __func__, .handle = other, .arguments = edges::all_given(level)};
  std::uint32_t other_gpu = 0;
  const Code code =
      library().ask(second, [&](const Subject& subject) { return write(&other_gpu, subject.target.gpu); });
  if (code != Code::kSuccess) return code;
  return library().ask({.name = __func__, .handle = device}, [&](const Subject& subject) {
    if (subject.target.gpu == other_gpu) return Code::kNotSupported;  // as measured
    const bool is_same_domain = subject.gpu.pci_domain == subject.machine.gpus[other_gpu].pci_domain;
    return write(level, is_same_domain ? kTopologyHostBridge : kTopologySystem);
  });
}

Code nvmlDeviceOnSameBoard(Device device, Device other, std::int32_t* is_same) {
  const edges::Call second{.name = __func__, .handle = other, .arguments = edges::all_given(is_same)};
  std::uint32_t other_gpu = 0;
  const Code code =
      library().ask(second, [&](const Subject& subject) { return write(&other_gpu, subject.target.gpu); });
  if (code != Code::kSuccess) return code;
  return library().ask({.name = __func__, .handle = device},
                       [&](const Subject& subject) { return write(is_same, subject.target.gpu == other_gpu ? 1 : 0); });
}

}  // extern "C"

}  // namespace berth::nvml_abi
