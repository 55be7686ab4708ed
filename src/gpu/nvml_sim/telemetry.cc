#include "gpu/nvml_sim/telemetry.h"

#include <algorithm>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1024} * 1024;
constexpr std::uint32_t kMilli = 1'000;
constexpr std::uint64_t kReservedMib = 480;  // measured on an H100 80GB

constexpr std::uint32_t kAllBusy = 4;  // processes
constexpr std::uint32_t kPercentOfProcess = 24;

std::uint32_t set_or(std::uint32_t set, std::uint32_t otherwise) { return set == kNotSet ? otherwise : set; }

std::uint32_t percent_of(const MemoryUse& memory) {
  return static_cast<std::uint32_t>(memory.used_bytes * 100 / memory.total_bytes);
}

/// The activity of this many processes, unless it was set.
Activity activity_with(const SetActivityRecord& set, std::size_t processes, const MemoryUse& memory) {
  const auto busy = static_cast<std::uint32_t>(std::min<std::size_t>(processes, kAllBusy));
  Activity activity;
  activity.graphics_percent = set_or(set.graphics, busy * kPercentOfProcess);
  activity.tensor_percent = set_or(set.tensor, activity.graphics_percent / 2);
  activity.dram_percent = set_or(set.dram, busy == 0 ? 0 : percent_of(memory));
  return activity;
}

MemoryUse memory_use(std::uint64_t total_mib, std::uint64_t reserved_mib, std::uint64_t wanted_mib) {
  const std::uint64_t used_mib = std::min(wanted_mib, total_mib - reserved_mib);
  return {.total_bytes = total_mib * kMib, .reserved_bytes = reserved_mib * kMib, .used_bytes = used_mib * kMib};
}

}  // namespace

MemoryUse memory_of(const GpuRecord& gpu) {
  std::uint64_t wanted_mib = 0;
  for (const ProcessRecord& process : processes_of(gpu)) wanted_mib += process.memory_mib;
  const auto total_mib = static_cast<std::uint64_t>(mig::board_of(model_of(gpu)).memory_mib);
  return memory_use(total_mib, kReservedMib, wanted_mib);
}

MemoryUse memory_of(const GpuRecord& gpu, const MigDevice& device) {
  std::uint64_t wanted_mib = 0;
  for (const ProcessRecord& process : processes_of(gpu)) {
    if (process.gpu_instance == static_cast<std::uint32_t>(device.gpu_instance)) wanted_mib += process.memory_mib;
  }
  return memory_use(gpu.gpu_instances[device.gpu_instance].memory_mib, 0, wanted_mib);
}

TelemetryLimits limits_of(const GpuRecord& gpu) {
  const mig::BoardPower& power = mig::board_of(model_of(gpu)).power;
  return {.power_mw = static_cast<std::uint32_t>(power.limit_watts) * kMilli,
          .power_min_mw = static_cast<std::uint32_t>(power.limit_min_watts) * kMilli,
          .sm_clock_mhz = static_cast<std::uint32_t>(power.sm_clock_max_mhz),
          .memory_clock_mhz = static_cast<std::uint32_t>(power.memory_clock_max_mhz)};
}

Activity activity_of(const GpuRecord& gpu, int gpu_instance) {
  const auto id = static_cast<std::uint32_t>(gpu_instance);
  const auto on_it = std::ranges::count(processes_of(gpu), id, &ProcessRecord::gpu_instance);
  return activity_with(gpu.gpu_instances[gpu_instance].set_activity, static_cast<std::size_t>(on_it),
                       memory_of(gpu, {.gpu_instance = gpu_instance}));
}

Activity activity_of(const GpuRecord& gpu) {
  const GpuModel& model = model_of(gpu);
  if (gpu.is_mig_on == 0) return activity_with(gpu.set_activity, processes_of(gpu).size(), memory_of(gpu));
  Activity sum;
  for (int id = 0; id < kGpuInstancesMax; ++id) {
    const GpuInstanceRecord& instance = gpu.gpu_instances[id];
    if (instance.is_there == 0) continue;
    const auto slices = static_cast<std::uint32_t>(model.profiles[instance.profile].compute_slices);
    const Activity own = activity_of(gpu, id);
    sum.graphics_percent += own.graphics_percent * slices;
    sum.tensor_percent += own.tensor_percent * slices;
    sum.dram_percent += own.dram_percent * slices;
  }
  const auto all = static_cast<std::uint32_t>(model.compute_slices);
  return {.graphics_percent = set_or(gpu.set_activity.graphics, sum.graphics_percent / all),
          .tensor_percent = set_or(gpu.set_activity.tensor, sum.tensor_percent / all),
          .dram_percent = set_or(gpu.set_activity.dram, sum.dram_percent / all)};
}

PcieRates pcie_rates_with(const Activity& activity) {
  constexpr std::uint32_t kSentOfPercent = 40;
  constexpr std::uint32_t kReceivedOfPercent = 80;
  return {.sent = activity.graphics_percent * kSentOfPercent,
          .received = activity.graphics_percent * kReceivedOfPercent};
}

Telemetry telemetry_of(const GpuRecord& gpu) {
  const MemoryUse memory = memory_of(gpu);
  const TelemetryLimits limits = limits_of(gpu);
  const auto busy = static_cast<std::uint32_t>(std::min<std::size_t>(processes_of(gpu).size(), kAllBusy));
  const auto idle_mw = static_cast<std::uint32_t>(mig::board_of(model_of(gpu)).power.idle_watts) * kMilli;
  const std::uint32_t busy_mw =
      idle_mw + (limits.power_mw / 10 * 9 - idle_mw) / kAllBusy * busy;  // all busy: 90 % of the limit
  Telemetry telemetry;
  telemetry.utilization_percent = set_or(gpu.set_activity.graphics, busy * kPercentOfProcess);
  telemetry.memory_utilization_percent = set_or(gpu.set_activity.dram, percent_of(memory));
  telemetry.temperature_c = set_or(gpu.set_temperature_c, 32 + busy * 9);
  telemetry.memory_temperature_c = telemetry.temperature_c + 6;
  telemetry.power_mw = set_or(gpu.set_power_mw, busy_mw);
  telemetry.sm_clock_mhz = telemetry.utilization_percent == 0 ? 345 : limits.sm_clock_mhz;
  telemetry.memory_clock_mhz = limits.memory_clock_mhz;
  return telemetry;
}

std::uint64_t energy_mj(const GpuRecord& gpu, std::int64_t now_us) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  const std::int64_t since_us = std::max<std::int64_t>(0, now_us - gpu.counters.energy_at_us);
  // Milliwatts x milliseconds are microjoules: 1,200 W for ten years fit.
  const std::uint64_t added_uj = static_cast<std::uint64_t>(since_us / 1'000) * telemetry_of(gpu).power_mw;
  return gpu.counters.energy_mj + added_uj / (kMicrosPerSecond / 1'000);
}

void settle_energy(GpuRecord& gpu, std::int64_t now_us) {
  gpu.counters.energy_mj = energy_mj(gpu, now_us);
  gpu.counters.energy_at_us = std::max(gpu.counters.energy_at_us, now_us);
}

}  // namespace berth::nvml_sim
