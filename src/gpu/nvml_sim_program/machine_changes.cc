#include "gpu/nvml_sim_program/machine_changes.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "base/core/text.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/telemetry.h"

namespace berth::nvml_sim_cli {

using nvml_sim::FaultRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::ProcessRecord;

namespace {

Result<GpuRecord*> find_gpu(MachineRecord& machine, std::uint32_t gpu) {
  if (gpu < machine.gpu_count) return &machine.gpus[gpu];
  return invalid("--gpu: wanted a GPU from 0 to " + std::to_string(machine.gpu_count - 1) + ", found " +
                 std::to_string(gpu));
}

Result<void> put_fault(GpuRecord& gpu, const FaultRecord& fault) {
  if (nvml_sim::add_fault(gpu, fault)) return {};
  return invalid("wanted at most " + std::to_string(nvml_sim::kFaultsMax) + " faults of one GPU, found more on GPU " +
                 std::to_string(gpu.index) + " (--clear takes them back)");
}

}  // namespace

Result<void> add_fault(MachineRecord& machine, std::uint32_t gpu, const FaultWords& words) {
  const auto found = find_gpu(machine, gpu);
  if (!found) return pass_on(found.error());
  const auto fault = make_fault(words);
  if (!fault) return pass_on(fault.error());
  return put_fault(**found, *fault);
}

Result<void> clear_faults(MachineRecord& machine, std::uint32_t gpu) {
  const auto found = find_gpu(machine, gpu);
  if (!found) return pass_on(found.error());
  nvml_sim::clear_faults(**found);
  return {};
}

Result<void> lose_gpu(MachineRecord& machine, std::uint32_t gpu) {
  const auto found = find_gpu(machine, gpu);
  if (!found) return pass_on(found.error());
  nvml_sim::lose(**found);
  return {};
}

Result<void> raise_xid(MachineRecord& machine, std::uint32_t gpu, const XidWords& words, std::int64_t now_us) {
  constexpr double kMicrosPerSecond = 1e6;
  const auto found = find_gpu(machine, gpu);
  if (!found) return pass_on(found.error());
  if (words.rate) {
    FaultRecord fault;
    fault.kind = FaultRecord::kXid;
    fault.error = words.xid;
    fault.times = words.times;
    fault.interval_us = std::llround(kMicrosPerSecond / *words.rate);
    fault.since_us = now_us;
    return put_fault(**found, fault);
  }
  if (words.times > kXidsAtOnceMax) {
    return invalid("--times: wanted at most " + std::to_string(kXidsAtOnceMax) +
                   " at once (--rate spreads them), found " + std::to_string(words.times));
  }
  const std::uint32_t instance = words.gpu_instance.value_or(nvml_sim::kNoInstance);
  for (std::int64_t i = 0; i < words.times; ++i) nvml_sim::raise_xid(machine, gpu, words.xid, instance);
  return {};
}

namespace {

/// A device that was named.
struct ProcessPlace {
  GpuRecord* gpu = nullptr;
  ProcessRecord process;
};

Result<ProcessPlace> find_place(MachineRecord& machine, const ProcessWords& words) {
  std::vector<std::string> known;
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
    GpuRecord& gpu = machine.gpus[index];
    ProcessRecord process;
    process.pid = words.pid;
    process.memory_mib = words.memory_mib;
    if (words.uuid == gpu.uuid) return ProcessPlace{&gpu, process};
    known.emplace_back(gpu.uuid);
    for (const nvml_sim::MigDevice& device : nvml_sim::mig_devices(gpu)) {
      known.push_back(nvml_sim::mig_uuid(gpu, device));
      if (known.back() != words.uuid) continue;
      process.gpu_instance = static_cast<std::uint32_t>(device.gpu_instance);
      process.compute_instance = static_cast<std::uint32_t>(device.compute_instance);
      return ProcessPlace{&gpu, process};
    }
  }
  const std::vector<std::string_view> words_known(known.begin(), known.end());
  return invalid("--uuid: wanted the UUID of a GPU or of a MIG device (berth-nvml-sim show lists them), found " +
                 in_quotes(words.uuid) + spelling_hint(words.uuid, words_known));
}

}  // namespace

Result<void> add_process(MachineRecord& machine, const ProcessWords& words, std::int64_t now_us) {
  const auto place = find_place(machine, words);
  if (!place) return pass_on(place.error());
  GpuRecord& gpu = *place->gpu;
  if (gpu.is_mig_on != 0 && place->process.gpu_instance == nvml_sim::kNoInstance) {
    return invalid("--uuid: wanted the UUID of a MIG device, as GPU " + std::to_string(gpu.index) +
                   " is in MIG mode, found " + in_quotes(words.uuid));
  }
  nvml_sim::settle_energy(gpu, now_us);
  if (nvml_sim::add_process(gpu, place->process)) return {};
  return invalid("wanted at most " + std::to_string(nvml_sim::kProcessesMax) +
                 " processes on one GPU, found more on GPU " + std::to_string(gpu.index));
}

namespace {

/// Whether a process is at a place: on this MIG device, or anywhere on this GPU.
bool is_at(const ProcessPlace& place, const ProcessRecord& process) {
  if (place.process.gpu_instance == nvml_sim::kNoInstance) return true;
  return process.gpu_instance == place.process.gpu_instance &&
         process.compute_instance == place.process.compute_instance;
}

/// "4711, 4712": the processes at these places; "none".
std::string pids_at(const std::vector<ProcessPlace>& places) {
  std::string pids;
  for (const ProcessPlace& place : places) {
    for (const ProcessRecord& process : nvml_sim::processes_of(*place.gpu)) {
      if (is_at(place, process)) pids += (pids.empty() ? "" : ", ") + std::to_string(process.pid);
    }
  }
  return pids.empty() ? "none" : pids;
}

bool remove_at(const ProcessPlace& place, std::int64_t now_us) {
  nvml_sim::settle_energy(*place.gpu, now_us);
  if (place.process.gpu_instance == nvml_sim::kNoInstance)
    return nvml_sim::remove_process(*place.gpu, place.process.pid);
  return nvml_sim::remove_process(*place.gpu, place.process);
}

}  // namespace

Result<void> remove_process(MachineRecord& machine, const ProcessWords& words, std::int64_t now_us) {
  std::vector<ProcessPlace> places;
  if (words.uuid.empty()) {
    for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
      places.push_back({.gpu = &machine.gpus[index], .process = {.pid = words.pid}});
    }
  } else {
    const auto place = find_place(machine, words);
    if (!place) return pass_on(place.error());
    places.push_back(*place);
  }
  bool was_there = false;
  for (const ProcessPlace& place : places) was_there = remove_at(place, now_us) || was_there;
  if (was_there) return {};
  const std::string where = words.uuid.empty() ? "this machine" : words.uuid;
  return invalid("--pid: wanted a process on " + where + " (" + pids_at(places) + "), found " +
                 std::to_string(words.pid));
}

Result<void> set_load(MachineRecord& machine, const LoadWords& words, std::int64_t now_us) {
  const auto place = find_place(machine, {.uuid = words.uuid});
  if (!place) return pass_on(place.error());
  GpuRecord& gpu = *place->gpu;
  const bool is_mig = place->process.gpu_instance != nvml_sim::kNoInstance;
  if (is_mig && (words.temperature_c || words.power_watts)) {
    return invalid("--uuid: wanted the UUID of a GPU with --temperature and --power, as MIG devices have none, found " +
                   in_quotes(words.uuid));
  }
  nvml_sim::settle_energy(gpu, now_us);
  nvml_sim::SetActivityRecord& set =
      is_mig ? gpu.gpu_instances[place->process.gpu_instance].set_activity : gpu.set_activity;
  const auto put = [](std::uint32_t& figure, const std::optional<std::uint32_t>& word) {
    if (word) figure = *word;
  };
  put(set.graphics, words.graphics_percent);
  put(set.tensor, words.tensor_percent);
  put(set.dram, words.dram_percent);
  put(gpu.set_temperature_c, words.temperature_c);
  if (words.power_watts) gpu.set_power_mw = *words.power_watts * 1'000;
  return {};
}

Result<void> clear_load(MachineRecord& machine, const std::string& uuid, std::int64_t now_us) {
  const auto place = find_place(machine, {.uuid = uuid});
  if (!place) return pass_on(place.error());
  GpuRecord& gpu = *place->gpu;
  nvml_sim::settle_energy(gpu, now_us);
  if (place->process.gpu_instance != nvml_sim::kNoInstance) {
    gpu.gpu_instances[place->process.gpu_instance].set_activity = {};
    return {};
  }
  gpu.set_activity = {};
  gpu.set_temperature_c = nvml_sim::kNotSet;
  gpu.set_power_mw = nvml_sim::kNotSet;
  return {};
}

Result<void> reset_gpu(MachineRecord& machine, std::uint32_t gpu, std::int64_t now_us) {
  const auto found = find_gpu(machine, gpu);
  if (!found) return pass_on(found.error());
  nvml_sim::settle_energy(**found, now_us);
  nvml_sim::reset_gpu(**found);
  return {};
}

}  // namespace berth::nvml_sim_cli
