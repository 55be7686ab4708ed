/// Processes on GPUs and compute instances.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// Processes of a GPU, in the order of the records.
[[nodiscard]] std::vector<ProcessRecord> processes_of(const GpuRecord& gpu);
/// The processes of one compute instance.
[[nodiscard]] std::vector<ProcessRecord> processes_of(const GpuRecord& gpu, const MigDevice& device);
[[nodiscard]] bool has_process(const GpuRecord& gpu);
[[nodiscard]] bool has_process(const GpuRecord& gpu, int gpu_instance);
[[nodiscard]] bool has_process(const GpuRecord& gpu, const MigDevice& device);

/// Adds a process, or changes the memory of an existing one. Without a device it is on the whole GPU. False: the GPU
/// has kProcessesMax already. Requires: pid > 0; the device exists.
[[nodiscard]] bool add_process(GpuRecord& gpu, const ProcessRecord& process);
/// Removes a process from the GPU and all of its instances. False: it is not there.
[[nodiscard]] bool remove_process(GpuRecord& gpu, std::uint32_t pid);
/// Removes the process with this pid from this device alone, or from the whole GPU. False: it is not there.
[[nodiscard]] bool remove_process(GpuRecord& gpu, const ProcessRecord& process);

}  // namespace berth::nvml_sim
