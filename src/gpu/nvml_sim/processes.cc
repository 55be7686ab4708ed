#include "gpu/nvml_sim/processes.h"

#include <algorithm>

namespace berth::nvml_sim {
namespace {

bool is_on(const ProcessRecord& process, const MigDevice& device) {
  return process.pid != 0 && process.gpu_instance == static_cast<std::uint32_t>(device.gpu_instance) &&
         process.compute_instance == static_cast<std::uint32_t>(device.compute_instance);
}

template <class Wanted>
std::vector<ProcessRecord> those(const GpuRecord& gpu, Wanted wanted) {
  std::vector<ProcessRecord> found;
  std::ranges::copy_if(gpu.processes, std::back_inserter(found), wanted);
  return found;
}

/// The record of the process with this pid on this device, or null.
ProcessRecord* find_process(GpuRecord& gpu, const ProcessRecord& process) {
  auto* const place = std::ranges::find_if(gpu.processes, [&](const ProcessRecord& other) {
    return other.pid == process.pid && other.gpu_instance == process.gpu_instance &&
           other.compute_instance == process.compute_instance;
  });
  return place == std::end(gpu.processes) ? nullptr : place;
}

}  // namespace

std::vector<ProcessRecord> processes_of(const GpuRecord& gpu) {
  return those(gpu, [](const ProcessRecord& process) { return process.pid != 0; });
}

std::vector<ProcessRecord> processes_of(const GpuRecord& gpu, const MigDevice& device) {
  return those(gpu, [&](const ProcessRecord& process) { return is_on(process, device); });
}

bool has_process(const GpuRecord& gpu) { return !processes_of(gpu).empty(); }

bool has_process(const GpuRecord& gpu, int gpu_instance) {
  return std::ranges::any_of(gpu.processes, [&](const ProcessRecord& process) {
    return process.pid != 0 && process.gpu_instance == static_cast<std::uint32_t>(gpu_instance);
  });
}

bool has_process(const GpuRecord& gpu, const MigDevice& device) { return !processes_of(gpu, device).empty(); }

bool add_process(GpuRecord& gpu, const ProcessRecord& process) {
  ProcessRecord* place = find_process(gpu, process);
  if (place == nullptr) place = std::ranges::find(gpu.processes, 0U, &ProcessRecord::pid);
  if (place == std::end(gpu.processes)) return false;
  *place = process;
  return true;
}

bool remove_process(GpuRecord& gpu, std::uint32_t pid) {
  bool was_there = false;
  for (ProcessRecord& process : gpu.processes) {
    if (process.pid != pid) continue;
    process = ProcessRecord{};
    was_there = true;
  }
  return was_there;
}

bool remove_process(GpuRecord& gpu, const ProcessRecord& process) {
  ProcessRecord* const place = find_process(gpu, process);
  if (place == nullptr) return false;
  *place = ProcessRecord{};
  return true;
}

}  // namespace berth::nvml_sim
