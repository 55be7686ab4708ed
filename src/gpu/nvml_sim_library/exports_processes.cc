// Processes on devices.
#include <algorithm>

#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::kTakesDevice;
using edges::library;
using edges::Subject;
using nvml_sim::ProcessRecord;

namespace {

constexpr std::uint64_t kMib = 1U << 20U;

std::vector<ProcessRecord> processes_of(const Subject& subject) {
  return is_mig(subject) ? nvml_sim::processes_of(subject.gpu, mig_device_of(subject))
                         : nvml_sim::processes_of(subject.gpu);
}

void write_process(const ProcessRecord& process, ProcessV1& out) { out = {process.pid, process.memory_mib * kMib}; }
void write_process(const ProcessRecord& process, ProcessV2& out) {
  out = {process.pid, process.memory_mib * kMib, process.gpu_instance, process.compute_instance};
}
void write_process(const ProcessRecord& process, ProcessDetailV1& out) {
  out = {process.pid, process.memory_mib * kMib, process.gpu_instance, process.compute_instance, 0};
}

/// Writes a list into an array of `*count` elements. kInsufficientSize: the list is longer.
template <class Process>
Code write_list(const std::vector<ProcessRecord>& processes, std::uint32_t* count, Process* out) {
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(processes.size());
  if (processes.size() > room) return Code::kInsufficientSize;
  if (!processes.empty() && out == nullptr) return Code::kInvalidArgument;
  for (const ProcessRecord& process : processes) write_process(process, *out++);
  return Code::kSuccess;
}

/// All simulated processes compute; none renders graphics or uses MPS.
template <class Process>
Code list_compute(const char* name, Device device, std::uint32_t* count, Process* out) {
  const Call call{.name = name, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject& subject) { return write_list(processes_of(subject), count, out); });
}
Code list_none(const char* name, Device device, std::uint32_t* count) {
  const Call call{.name = name, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(count)};
  return library().ask(call, [&](const Subject&) { return write(count, 0); });
}

}  // namespace

extern "C" {

Code nvmlDeviceGetComputeRunningProcesses(Device device, std::uint32_t* count, ProcessV1* processes) {
  return list_compute(__func__, device, count, processes);
}
Code nvmlDeviceGetComputeRunningProcesses_v2(Device device, std::uint32_t* count, ProcessV2* processes) {
  return list_compute(__func__, device, count, processes);
}
Code nvmlDeviceGetComputeRunningProcesses_v3(Device device, std::uint32_t* count, ProcessV2* processes) {
  return list_compute(__func__, device, count, processes);
}

Code nvmlDeviceGetGraphicsRunningProcesses(Device device, std::uint32_t* count, ProcessV1*) {
  return list_none(__func__, device, count);
}
Code nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, std::uint32_t* count, ProcessV2*) {
  return list_none(__func__, device, count);
}
Code nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, std::uint32_t* count, ProcessV2*) {
  return list_none(__func__, device, count);
}

Code nvmlDeviceGetMPSComputeRunningProcesses(Device device, std::uint32_t* count, ProcessV1*) {
  return list_none(__func__, device, count);
}
Code nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, std::uint32_t* count, ProcessV2*) {
  return list_none(__func__, device, count);
}
Code nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, std::uint32_t* count, ProcessV2*) {
  return list_none(__func__, device, count);
}

Code nvmlDeviceGetRunningProcessDetailList(Device device, ProcessDetailListV1* list) {
  const Code arguments = edges::versioned(list, version_of<ProcessDetailListV1>(1), Code::kArgumentVersionMismatch);
  return library().ask({.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = arguments},
                       [&](const Subject& subject) {
                         if (list->mode >= kProcessModeCount) return Code::kInvalidArgument;
                         const bool is_compute = list->mode == kProcessCompute || list->mode == kProcessAll;
                         return write_list(is_compute ? processes_of(subject) : std::vector<ProcessRecord>(),
                                           &list->count, list->processes);
                       });
}

}  // extern "C"

}  // namespace berth::nvml_abi
