// Looking up devices by index, UUID, serial number and PCI address.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::HandleKind;
using edges::library;
using edges::Target;
using nvml_sim::Answer;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::refuse;

namespace {

/// The GPU for which `is_it` holds.
template <class IsIt>
Answer<Target> find_gpu(const MachineRecord& machine, IsIt is_it) {
  for (std::uint32_t gpu = 0; gpu < machine.gpu_count; ++gpu) {
    if (is_it(machine.gpus[gpu])) return Target{.kind = HandleKind::kGpu, .gpu = gpu};
  }
  return refuse(Code::kNotFound);
}

/// The GPU or MIG device with a UUID, in lower case as NVML requires.
Answer<Target> find_uuid(const MachineRecord& machine, std::string_view uuid) {
  if (!uuid.starts_with("MIG-")) return find_gpu(machine, [&](const GpuRecord& gpu) { return uuid == gpu.uuid; });
  for (std::uint32_t gpu = 0; gpu < machine.gpu_count; ++gpu) {
    for (const nvml_sim::MigDevice& device : nvml_sim::mig_devices(machine.gpus[gpu])) {
      if (nvml_sim::mig_uuid(machine.gpus[gpu], device) != uuid) continue;
      return Target{.kind = HandleKind::kMigDevice,
                    .gpu = gpu,
                    .gpu_instance = device.gpu_instance,
                    .compute_instance = device.compute_instance};
    }
  }
  return refuse(Code::kNotFound);
}

struct PciPlace {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
};

std::optional<std::uint32_t> hexadecimal(std::string_view digits, std::size_t digits_max) {
  if (digits.empty() || digits.size() > digits_max) return std::nullopt;
  std::uint32_t value = 0;
  for (const char digit : digits) {
    if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) return std::nullopt;
    const int lower = std::tolower(static_cast<unsigned char>(digit));
    value = value * 16 + static_cast<std::uint32_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
  }
  return value;
}

/// "[domain:]bus:device[.function]", in hexadecimal digits of either case.
std::optional<PciPlace> parse_place(std::string_view text) {
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    if (hexadecimal(text.substr(dot + 1), 1) != 0U) return std::nullopt;
    text = text.substr(0, dot);
  }
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const auto device = hexadecimal(text.substr(last + 1), 2);
  text = text.substr(0, last);
  const std::size_t first = text.rfind(':');
  const auto domain =
      first == std::string_view::npos ? std::optional<std::uint32_t>(0) : hexadecimal(text.substr(0, first), 8);
  const auto bus = hexadecimal(first == std::string_view::npos ? text : text.substr(first + 1), 2);
  if (!domain || !bus || !device) return std::nullopt;
  return PciPlace{*domain, *bus, *device};
}

/// "GPU-" and the text of 16 bytes.
std::string uuid_text(const unsigned char* bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (int index = 0; index < static_cast<int>(kUuidBinaryBytes); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += kDigits[bytes[index] >> 4U];
    text += kDigits[bytes[index] & 15U];
  }
  return text;
}

Code look_up(const char* name, const void* given, Device* device, const edges::Finding& find) {
  void* handle = nullptr;
  const Code code = library().look_up(name, edges::all_given(static_cast<const char*>(given), device), find, &handle);
  if (code == Code::kSuccess) *device = static_cast<Device>(handle);
  return code;
}

}  // namespace

extern "C" {

Code nvmlDeviceGetCount_v2(std::uint32_t* count) {
  return library().describe(__func__, edges::all_given(count),
                            [&](const MachineRecord& machine) { return write(count, machine.gpu_count); });
}
Code nvmlDeviceGetCount(std::uint32_t* count) { return nvmlDeviceGetCount_v2(count); }

Code nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, Device* device) {
  return look_up(__func__, static_cast<const void*>(device), device,
                 [&](const MachineRecord& machine) -> Answer<Target> {
                   if (index >= machine.gpu_count) return refuse(Code::kInvalidArgument);
                   return Target{.kind = HandleKind::kGpu, .gpu = index};
                 });
}
Code nvmlDeviceGetHandleByIndex(std::uint32_t index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

Code nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  return look_up(__func__, uuid, device, [&](const MachineRecord& machine) { return find_uuid(machine, uuid); });
}

Code nvmlDeviceGetHandleByUUIDV(const UuidV1* uuid, Device* device) {
  Code arguments = edges::versioned(uuid, version_of<UuidV1>(1), Code::kArgumentVersionMismatch);
  if (arguments == Code::kSuccess) arguments = edges::all_given(device);
  void* handle = nullptr;
  const auto find = [&](const MachineRecord& machine) -> Answer<Target> {
    if (uuid->type == kUuidBinary) return find_uuid(machine, uuid_text(uuid->value.binary));
    if (uuid->type != kUuidAscii) return refuse(Code::kInvalidArgument);
    const char* const text = uuid->value.ascii;
    return find_uuid(machine, std::string_view(text, ::strnlen(text, kUuidAsciiBytes)));
  };
  const Code code = library().look_up(__func__, arguments, find, &handle);
  if (code == Code::kSuccess) *device = static_cast<Device>(handle);
  return code;
}

Code nvmlDeviceGetHandleBySerial(const char* serial, Device* device) {
  return look_up(__func__, serial, device, [&](const MachineRecord& machine) {
    return find_gpu(machine, [&](const GpuRecord& gpu) { return std::string_view(gpu.serial) == serial; });
  });
}

Code nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  return look_up(__func__, bus_id, device, [&](const MachineRecord& machine) -> Answer<Target> {
    const std::optional<PciPlace> place = parse_place(bus_id);
    if (!place) return refuse(Code::kInvalidArgument);
    return find_gpu(machine, [&](const GpuRecord& gpu) {
      return gpu.pci_domain == place->domain && gpu.pci_bus == place->bus && place->device == 0;
    });
  });
}
Code nvmlDeviceGetHandleByPciBusId(const char* bus_id, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

}  // extern "C"

}  // namespace berth::nvml_abi
