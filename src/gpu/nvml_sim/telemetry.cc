#include "gpu/nvml_sim/telemetry.h"

#include <algorithm>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim {
namespace {

constexpr std::uint64_t kMib = 1024 * 1024;
constexpr std::uint32_t kMilli = 1'000;
constexpr std::uint64_t kReservedMib = 480;  // measured on an H100 80GB

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

Telemetry telemetry_of(const GpuRecord& gpu) {
  constexpr std::uint32_t kAllBusy = 4;  // processes
  const MemoryUse memory = memory_of(gpu);
  const TelemetryLimits limits = limits_of(gpu);
  const auto busy = static_cast<std::uint32_t>(std::min<std::size_t>(processes_of(gpu).size(), kAllBusy));
  const auto idle_mw = static_cast<std::uint32_t>(mig::board_of(model_of(gpu)).power.idle_watts) * kMilli;
  Telemetry telemetry;
  telemetry.utilization_percent = busy * 24;
  telemetry.memory_utilization_percent = static_cast<std::uint32_t>(memory.used_bytes * 100 / memory.total_bytes);
  telemetry.temperature_c = 32 + busy * 9;
  telemetry.memory_temperature_c = telemetry.temperature_c + 6;
  telemetry.power_mw = idle_mw + (limits.power_mw / 10 * 9 - idle_mw) / kAllBusy * busy;  // all busy: 90 % of the limit
  telemetry.sm_clock_mhz = busy == 0 ? 345 : limits.sm_clock_mhz;
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
