#include "gpu/nvml_sim_program/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "domain/mig/board.h"
#include "domain/mig/compute_instance.h"
#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim_cli {
namespace {

using json::Writer;
using nvml_sim::ComputeInstanceRecord;
using nvml_sim::FaultRecord;
using nvml_sim::GpuInstanceRecord;
using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::MigDevice;
using nvml_sim::ProcessRecord;

const MigProfile& profile_of(const GpuRecord& gpu, const GpuInstanceRecord& instance) {
  return nvml_sim::model_of(gpu).profiles[instance.profile];
}

/// Names of the fields of a GPU that no primary source confirms.
std::vector<std::string> unverified_of(const GpuRecord& gpu) {
  const GpuModel& model = nvml_sim::model_of(gpu);
  std::vector<std::string> names = mig::board_of(model).unverified;
  if (model.is_sms_unverified) names.emplace_back("sms");
  return names;
}

std::vector<std::string> unverified_of(const GpuRecord& gpu, const GpuInstanceRecord& instance) {
  const MigProfile& profile = profile_of(gpu, instance);
  std::vector<std::string> names = profile.unverified;
  const bool is_estimate = !profile.memory_mib && std::ranges::find(names, "memory_mib") == names.end();
  if (is_estimate) names.emplace_back("memory_mib");
  return names;
}

/// The kind of a compute instance.
mig::ComputeProfile profile_of(const GpuRecord& gpu, const GpuInstanceRecord& instance,
                               const ComputeInstanceRecord& compute) {
  const std::vector<mig::ComputeProfile> profiles =
      mig::compute_profiles(nvml_sim::model_of(gpu), ProfileId{instance.profile});
  return *std::ranges::find(profiles, int{compute.slices}, &mig::ComputeProfile::slices);
}

/// The place of an instance with all slices is that of its GPU instance, so it is not in doubt.
std::vector<std::string> unverified_of(const GpuRecord& gpu, const GpuInstanceRecord& instance,
                                       const mig::ComputeProfile& profile) {
  const bool is_part = profile.slices < profile_of(gpu, instance).compute_slices;
  if (!is_part || !profile.is_unverified) return {};
  return {"profile", "start"};
}

/// Processes on the whole GPU.
std::vector<ProcessRecord> own_processes(const GpuRecord& gpu) {
  std::vector<ProcessRecord> processes = nvml_sim::processes_of(gpu);
  std::erase_if(processes, [](const ProcessRecord& each) { return each.gpu_instance != nvml_sim::kNoInstance; });
  return processes;
}

std::vector<FaultRecord> faults_of(const GpuRecord& gpu) {
  std::vector<FaultRecord> faults(std::begin(gpu.faults), std::end(gpu.faults));
  std::erase_if(faults, [](const FaultRecord& fault) { return fault.kind == FaultRecord::kNone; });
  return faults;
}

std::string error_name(const FaultRecord& fault) {
  return std::string(nvml_abi::name_of(static_cast<nvml_abi::Code>(fault.error)));
}

double rate_of(const FaultRecord& fault) {
  return 1e6 / static_cast<double>(std::max<std::int64_t>(fault.interval_us, 1));
}

// JSON

void write_process(Writer& json, const ProcessRecord& process) {
  json.open_object().member("pid", process.pid).member("memory_mib", process.memory_mib).close_object();
}

void write_fault(Writer& json, const FaultRecord& fault) {
  json.open_object();
  if (fault.kind == FaultRecord::kXid) {
    json.member("xid", fault.error).member("times", fault.times).member("rate", rate_of(fault)).close_object();
    return;
  }
  json.member("call", fault.call);
  json.member("error", fault.error == 0 ? std::nullopt : std::optional(error_name(fault)));
  json.member("done", fault.is_done != 0).member("after", fault.after).member("times", fault.times);
  json.member("ms", fault.delay_ms).close_object();
}

void write_compute_instances(Writer& json, const GpuRecord& gpu, int gpu_instance) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[gpu_instance];
  json.open_list();
  for (int id = 0; id < nvml_sim::kComputeInstancesMax; ++id) {
    const ComputeInstanceRecord& compute = instance.compute_instances[id];
    if (compute.is_there == 0) continue;
    const MigDevice device{gpu_instance, id};
    const mig::ComputeProfile profile = profile_of(gpu, instance, compute);
    json.open_object().member("id", id).member("profile", profile.name).member("start", compute.start);
    json.member("uuid", nvml_sim::mig_uuid(gpu, device)).member("generation", compute.generation);
    json.list("processes", nvml_sim::processes_of(gpu, device), write_process);
    json.list("unverified", unverified_of(gpu, instance, profile)).close_object();
  }
  json.close_list();
}

void write_gpu_instances(Writer& json, const GpuRecord& gpu) {
  json.open_list();
  for (int id = 0; id < nvml_sim::kGpuInstancesMax; ++id) {
    const GpuInstanceRecord& instance = gpu.gpu_instances[id];
    if (instance.is_there == 0) continue;
    const MigProfile& profile = profile_of(gpu, instance);
    json.open_object().member("id", id).member("profile", profile.name).member("start", instance.start);
    json.member("length", profile.length).member("memory_mib", instance.memory_mib);
    json.member("generation", instance.generation);
    write_compute_instances(json.key("compute_instances"), gpu, id);
    json.list("unverified", unverified_of(gpu, instance)).close_object();
  }
  json.close_list();
}

void write_gpu(Writer& json, const GpuRecord& gpu) {
  json.open_object().member("index", gpu.index).member("uuid", gpu.uuid).member("model", gpu.model);
  json.member("pci", gpu.bus_id).member("changing_calls", gpu.changing_calls).member("lost", gpu.is_lost != 0);
  json.open_object("mig").member("current", gpu.is_mig_on != 0).member("pending", gpu.is_mig_pending_on != 0);
  write_gpu_instances(json.close_object().key("gpu_instances"), gpu);
  json.list("processes", own_processes(gpu), write_process).list("faults", faults_of(gpu), write_fault);
  json.list("unverified", unverified_of(gpu)).close_object();
}

// Text

std::string marked(bool is_unverified, std::string_view text) {
  return fmt::format("{}{}", text, is_unverified ? "?" : "");
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string processes_text(const std::vector<ProcessRecord>& processes) {
  std::string text;
  for (const ProcessRecord& each : processes) text += fmt::format("  pid {} ({} MiB)", each.pid, each.memory_mib);
  return text;
}

std::string mode_text(const GpuRecord& gpu) {
  if (!nvml_sim::model_of(gpu).is_mig_capable()) return "no MIG";
  std::string now = gpu.is_mig_on != 0 ? "MIG on" : "MIG off";
  if (gpu.is_mig_on == gpu.is_mig_pending_on) return now;
  return now + (gpu.is_mig_pending_on != 0 ? " (on after a reset)" : " (off after a reset)");
}

std::string fault_text(const FaultRecord& fault) {
  if (fault.kind == FaultRecord::kXid) {
    return fmt::format("  fault: XID {}, {} more, {:.4g} per second\n", fault.error, fault.times, rate_of(fault));
  }
  std::string text = fmt::format("  fault: {}", fault.call);
  if (fault.error != 0) text += " " + error_name(fault) + (fault.is_done != 0 ? ", although it is done" : "");
  if (fault.delay_ms > 0) text += fmt::format(", {} ms", fault.delay_ms);
  text += fmt::format(", {} times", fault.times);
  if (fault.after > 0) text += fmt::format(", after {} calls", fault.after);
  return text + "\n";
}

std::string compute_instance_text(const GpuRecord& gpu, const MigDevice& device) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[device.gpu_instance];
  const ComputeInstanceRecord& compute = instance.compute_instances[device.compute_instance];
  const mig::ComputeProfile profile = profile_of(gpu, instance, compute);
  const bool is_unverified = !unverified_of(gpu, instance, profile).empty();
  return fmt::format("    CI {:<2} {:<16} {}{}\n", device.compute_instance,
                     marked(is_unverified, fmt::format("{}@{}", profile.name, compute.start)),
                     nvml_sim::mig_uuid(gpu, device), processes_text(nvml_sim::processes_of(gpu, device)));
}

std::string gpu_instance_text(const GpuRecord& gpu, int id) {
  const GpuInstanceRecord& instance = gpu.gpu_instances[id];
  const MigProfile& profile = profile_of(gpu, instance);
  const std::vector<std::string> unverified = unverified_of(gpu, instance);
  std::string text =
      fmt::format("  GI {:<2} {:<16} units {} to {}, {} MiB, generation {}\n", id,
                  marked(contains(unverified, "starts"), fmt::format("{}@{}", profile.name, instance.start)),
                  instance.start, instance.start + profile.length - 1,
                  marked(contains(unverified, "memory_mib"), std::to_string(instance.memory_mib)), instance.generation);
  for (const MigDevice& device : nvml_sim::mig_devices(gpu)) {
    if (device.gpu_instance == id) text += compute_instance_text(gpu, device);
  }
  return text;
}

std::string gpu_text(const GpuRecord& gpu) {
  std::string text = fmt::format("GPU {}  {}  {}  {}  {}, {} changing calls{}{}\n", gpu.index, gpu.model, gpu.uuid,
                                 gpu.bus_id, mode_text(gpu), gpu.changing_calls, gpu.is_lost != 0 ? ", LOST" : "",
                                 processes_text(own_processes(gpu)));
  for (int id = 0; id < nvml_sim::kGpuInstancesMax; ++id) {
    if (gpu.gpu_instances[id].is_there != 0) text += gpu_instance_text(gpu, id);
  }
  for (const FaultRecord& fault : faults_of(gpu)) text += fault_text(fault);
  const std::vector<std::string> unverified = unverified_of(gpu);
  if (!unverified.empty()) text += fmt::format("  unverified: {}\n", fmt::join(unverified, ", "));
  return text;
}

}  // namespace

std::string show_text(const MachineRecord& machine) {
  std::string text = fmt::format("driver {}, boot {} ({})\n", machine.driver, machine.boot_id, machine.boots);
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) text += "\n" + gpu_text(machine.gpus[index]);
  if (text.find('?') != std::string::npos) text += "\n? marks what no primary source confirms.\n";
  return text;
}

std::string show_json(const MachineRecord& machine) {
  Writer json;
  json.open_object().member("driver", machine.driver).member("boot_id", machine.boot_id).open_list("devices");
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) write_gpu(json, machine.gpus[index]);
  return json.close_list().close_object().take_line();
}

}  // namespace berth::nvml_sim_cli
