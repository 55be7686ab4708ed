/// The temperature, power, clocks and memory of a simulated GPU: a pure function of its record and the time. Plausible
/// values for testing readers, not a model of a GPU.
#pragma once

#include <cstdint>

#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< the driver's reserve
  std::uint64_t used_bytes = 0;      ///< by processes, at most total - reserved
  [[nodiscard]] std::uint64_t free_bytes() const { return total_bytes - reserved_bytes - used_bytes; }
};
[[nodiscard]] MemoryUse memory_of(const GpuRecord& gpu);
/// Of the GPU instance that the device is in: compute instances of one share its memory.
[[nodiscard]] MemoryUse memory_of(const GpuRecord& gpu, const MigDevice& device);

/// How busy the parts of a GPU or GPU instance are, in percent.
struct Activity {
  std::uint32_t graphics_percent = 0;  ///< any engine for compute or graphics
  std::uint32_t tensor_percent = 0;    ///< tensor cores
  std::uint32_t dram_percent = 0;      ///< bandwidth of the memory
  friend bool operator==(const Activity&, const Activity&) = default;
};
/// What was set (SetActivityRecord), else 24 % for each process, up to four. Without MIG of the whole GPU; with MIG the
/// mean of its GPU instances, weighted by their compute slices.
[[nodiscard]] Activity activity_of(const GpuRecord& gpu);
/// Of a GPU instance. Requires: it exists.
[[nodiscard]] Activity activity_of(const GpuRecord& gpu, int gpu_instance);

/// What a GPU sends and receives over PCIe, in MiB/s: made up, in proportion to how busy it is.
struct PcieRates {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  friend bool operator==(const PcieRates&, const PcieRates&) = default;
};
[[nodiscard]] PcieRates pcie_rates_with(const Activity& activity);

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

/// The limits of a model.
struct TelemetryLimits {
  std::uint32_t power_mw = 0;
  std::uint32_t power_min_mw = 0;
  std::uint32_t sm_clock_mhz = 0;
  std::uint32_t memory_clock_mhz = 0;
};
[[nodiscard]] TelemetryLimits limits_of(const GpuRecord& gpu);

inline constexpr std::uint32_t kShutdownTemperatureC = 92;
inline constexpr std::uint32_t kSlowdownTemperatureC = 89;

/// Millijoules since the boot, for constant power since the last change. Monotone in `now_us`.
[[nodiscard]] std::uint64_t energy_mj(const GpuRecord& gpu, std::int64_t now_us);
/// Records the energy so far; to be called before anything that changes the power.
void settle_energy(GpuRecord& gpu, std::int64_t now_us);

}  // namespace berth::nvml_sim
