#include "gpu/nvml/detail/processes.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <string_view>

#include "gpu/nvml/detail/answers.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::kNoInstanceId;
using nvml_abi::ProcessV1;
using nvml_abi::ProcessV2;

namespace {

/// The functions that list one kind of processes. Null: the driver has none.
struct Lister {
  std::string_view name;
  nvml_abi::signatures::nvmlDeviceGetComputeRunningProcesses_v3 with_instances = nullptr;
  nvml_abi::signatures::nvmlDeviceGetComputeRunningProcesses plain = nullptr;
};

/// Newest functions first. The first kind is compute; graphics and MPS processes are not listed on every device.
std::array<Lister, 3> listers_of(const Functions& f) {
  const auto newest = [](auto* third, auto* second) { return third != nullptr ? third : second; };
  return {
      Lister{"nvmlDeviceGetComputeRunningProcesses_v3",
             newest(f.nvmlDeviceGetComputeRunningProcesses_v3, f.nvmlDeviceGetComputeRunningProcesses_v2),
             f.nvmlDeviceGetComputeRunningProcesses},
      Lister{"nvmlDeviceGetGraphicsRunningProcesses_v3",
             newest(f.nvmlDeviceGetGraphicsRunningProcesses_v3, f.nvmlDeviceGetGraphicsRunningProcesses_v2),
             f.nvmlDeviceGetGraphicsRunningProcesses},
      Lister{"nvmlDeviceGetMPSComputeRunningProcesses_v3",
             newest(f.nvmlDeviceGetMPSComputeRunningProcesses_v3, f.nvmlDeviceGetMPSComputeRunningProcesses_v2),
             f.nvmlDeviceGetMPSComputeRunningProcesses},
  };
}

/// Queries with growing capacity: more processes may start between two calls.
template <class Process, class List>
Code ask_list(List list, Device device, std::vector<Process>& processes) {
  constexpr std::uint32_t kRoomMin = 32;
  constexpr std::uint32_t kRoomMax = 1U << 16U;
  Code code = Code::kInsufficientSize;
  for (std::uint32_t room = kRoomMin; room <= kRoomMax && code == Code::kInsufficientSize;) {
    processes.assign(room, Process{});
    std::uint32_t count = room;
    code = list(device, &count, processes.data());
    if (code == Code::kSuccess) processes.resize(std::min(count, room));
    room = std::max(count, room) * 2;
  }
  return code;
}

Code ask_lister(const Lister& lister, Device device, std::vector<ProcessV2>& processes) {
  if (lister.with_instances != nullptr) return ask_list(lister.with_instances, device, processes);
  if (lister.plain == nullptr) return Code::kFunctionNotFound;
  std::vector<ProcessV1> plain;
  const Code code = ask_list(lister.plain, device, plain);
  if (code != Code::kSuccess) return code;
  for (const ProcessV1& process : plain) {
    processes.push_back({.pid = process.pid, .memory_bytes = process.memory_bytes});
  }
  return code;
}

/// All kinds of processes of one device. The first kind decides whether the device can be queried at all.
GpuAnswer<std::vector<ProcessV2>> list_device(const Functions& functions, Device device) {
  std::vector<ProcessV2> all;
  bool is_first = true;
  for (const Lister& lister : listers_of(functions)) {
    std::vector<ProcessV2> some;
    const Code code = ask_lister(lister, device, some);
    const bool is_hidden = is_not_offered(code) || code == Code::kNoPermission;
    if (code == Code::kSuccess) all.insert(all.end(), some.begin(), some.end());
    if (code == Code::kGpuIsLost || (code != Code::kSuccess && is_first && !is_hidden))
      return failed(lister.name, code);
    is_first = false;
  }
  return all;
}

/// A process and its instances; kNoInstanceId: on no instance.
struct Place {
  std::uint32_t pid = 0;
  std::uint32_t gpu_instance = kNoInstanceId;
  std::uint32_t compute_instance = kNoInstanceId;
  friend auto operator<=>(const Place&, const Place&) = default;
};
using Places = std::map<Place, std::int64_t>;  ///< with the memory there, in MiB

void add(Places& places, const ProcessV2& process) {
  std::int64_t& memory_mib = places[{process.pid, process.gpu_instance_id, process.compute_instance_id}];
  memory_mib = std::max(memory_mib, mib_of_bytes(process.memory_bytes));  // it may be listed for both kinds
}

/// Whether the same process is also listed with a more exact place.
bool is_known_better(const Places& places, const Place& place) {
  if (place.compute_instance != kNoInstanceId) return false;
  return std::ranges::any_of(places, [&](const auto& entry) {
    const Place& other = entry.first;
    if (other.pid != place.pid || other == place) return false;
    if (place.gpu_instance == kNoInstanceId) return other.gpu_instance != kNoInstanceId;
    return other.gpu_instance == place.gpu_instance && other.compute_instance != kNoInstanceId;
  });
}

/// `argv[0]`, truncated to 1 KiB; empty: the process ended, or cannot be read.
std::string name_of_process(const Functions& functions, std::uint32_t pid) {
  constexpr std::size_t kNameBytesMax = 1024;
  if (functions.nvmlSystemGetProcessName == nullptr) return {};
  std::array<char, kNameBytesMax> name{};
  const Code code = functions.nvmlSystemGetProcessName(pid, name.data(), name.size());
  return code == Code::kSuccess ? text_of(std::string_view(name.data(), name.size())) : std::string();
}

std::optional<std::uint32_t> instance_id(std::uint32_t id) {
  return id == kNoInstanceId ? std::nullopt : std::optional(id);
}

}  // namespace

GpuAnswer<std::vector<GpuProcessSeen>> read_processes(const Functions& functions, Device gpu,
                                                      std::span<const MigDeviceHandle> mig_devices) {
  Places places;
  const GpuAnswer<std::vector<ProcessV2>> of_gpu = list_device(functions, gpu);
  if (!of_gpu) return tl::unexpected(of_gpu.error());
  for (const ProcessV2& process : *of_gpu) add(places, process);
  for (const MigDeviceHandle& mig_device : mig_devices) {
    const GpuAnswer<std::vector<ProcessV2>> of_device = list_device(functions, mig_device.device);
    if (!of_device) return tl::unexpected(of_device.error());
    for (ProcessV2 process : *of_device) {
      process.gpu_instance_id = mig_device.gpu_instance;
      process.compute_instance_id = mig_device.compute_instance;
      add(places, process);
    }
  }

  std::vector<GpuProcessSeen> seen;
  for (const auto& [place, memory_mib] : places) {
    if (is_known_better(places, place)) continue;
    const bool is_same_process = !seen.empty() && seen.back().pid == place.pid;
    seen.push_back({.pid = place.pid,
                    .name = is_same_process ? seen.back().name : name_of_process(functions, place.pid),
                    .memory_mib = memory_mib,
                    .gpu_instance = instance_id(place.gpu_instance),
                    .compute_instance = instance_id(place.compute_instance)});
  }
  return seen;
}

}  // namespace berth::edges::detail
