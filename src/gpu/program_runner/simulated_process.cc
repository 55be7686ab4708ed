#include "gpu/program_runner/simulated_process.h"

#include <time.h>

#include <cstdint>

#include "base/core/text.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/telemetry.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::edges {
namespace {

using nvml_sim::GpuRecord;
using nvml_sim::MachineRecord;
using nvml_sim::ProcessRecord;

/// As the simulated library counts.
std::int64_t simulated_now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

Result<void> add_at(GpuRecord& gpu, const ProcessRecord& process) {
  nvml_sim::settle_energy(gpu, simulated_now_us());
  if (nvml_sim::add_process(gpu, process)) return {};
  return invalid("the simulated GPU has as many processes as it can have");
}

Result<void> add_to_device(MachineRecord& machine, const std::string& uuid, pid_t pid) {
  for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
    GpuRecord& gpu = machine.gpus[index];
    ProcessRecord process;
    process.pid = static_cast<std::uint32_t>(pid);
    if (uuid == gpu.uuid) return add_at(gpu, process);
    for (const nvml_sim::MigDevice& device : nvml_sim::mig_devices(gpu)) {
      if (nvml_sim::mig_uuid(gpu, device) != uuid) continue;
      process.gpu_instance = static_cast<std::uint32_t>(device.gpu_instance);
      process.compute_instance = static_cast<std::uint32_t>(device.compute_instance);
      return add_at(gpu, process);
    }
  }
  return invalid("device: wanted a GPU or MIG device of the simulated machine, found " + in_quotes(uuid));
}

}  // namespace

Result<void> list_simulated_process(const std::string& state, const std::string& uuid, pid_t pid) {
  auto file = SimStateFile::open(state);
  if (!file) return pass_on(file.error());
  Result<void> done;
  (*file)->change_all([&](MachineRecord& machine) { done = add_to_device(machine, uuid, pid); });
  return done;
}

void unlist_simulated_process(const std::string& state, pid_t pid) {
  auto file = SimStateFile::open(state);
  if (!file) return;
  (*file)->change_all([&](MachineRecord& machine) {
    for (std::uint32_t index = 0; index < machine.gpu_count; ++index) {
      GpuRecord& gpu = machine.gpus[index];
      nvml_sim::settle_energy(gpu, simulated_now_us());
      static_cast<void>(nvml_sim::remove_process(gpu, static_cast<std::uint32_t>(pid)));
    }
  });
}

}  // namespace berth::edges
