/// What a simulated GPU says of its heat, power, clocks and memory: a pure function of its record and the time.
/// Plausible values for tests of those who read them, no model of a GPU.
#pragma once

#include <cstdint>

#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< what the driver keeps for itself
  std::uint64_t used_bytes = 0;      ///< by processes, at most total - reserved
  [[nodiscard]] std::uint64_t free_bytes() const { return total_bytes - reserved_bytes - used_bytes; }
};
[[nodiscard]] MemoryUse memory_of(const GpuRecord& gpu);
/// Of the GPU instance that the device is in: compute instances of one share its memory.
[[nodiscard]] MemoryUse memory_of(const GpuRecord& gpu, const MigDevice& device);

struct Telemetry {
  std::uint32_t utilization_percent = 0;
  std::uint32_t memory_utilization_percent = 0;
  std::uint32_t temperature_c = 0;
  std::uint32_t memory_temperature_c = 0;
  std::uint32_t power_mw = 0;
  std::uint32_t sm_clock_mhz = 0;
  std::uint32_t memory_clock_mhz = 0;
  std::uint32_t performance_state = 0;  ///< P0
};
[[nodiscard]] Telemetry telemetry_of(const GpuRecord& gpu);

/// What bounds them.
inline constexpr std::uint32_t kPowerLimitMw = 700'000;
inline constexpr std::uint32_t kPowerLimitMinMw = 200'000;
inline constexpr std::uint32_t kSmClockMaxMhz = 1'980;
inline constexpr std::uint32_t kMemoryClockMaxMhz = 2'619;
inline constexpr std::uint32_t kShutdownTemperatureC = 92;
inline constexpr std::uint32_t kSlowdownTemperatureC = 89;

/// Millijoules since the boot, for a power that has been as it is since the last change. Never falls while `now_us`
/// does not.
[[nodiscard]] std::uint64_t energy_mj(const GpuRecord& gpu, std::int64_t now_us);
/// Writes down the energy so far: before anything that changes the power.
void settle_energy(GpuRecord& gpu, std::int64_t now_us);

}  // namespace berth::nvml_sim
