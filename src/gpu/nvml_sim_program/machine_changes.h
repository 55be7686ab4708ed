/// Changes of a simulated machine from outside, while its clients run. Each function checks first and then changes
/// everything or nothing; an error names the wrong option, what was wanted and what was found. Times are in
/// microseconds since 1970, as in the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim_program/fault_words.h"

namespace berth::nvml_sim_cli {

/// Adds a fault to a GPU.
[[nodiscard]] Result<void> add_fault(nvml_sim::MachineRecord& machine, std::uint32_t gpu, const FaultWords& words);
/// Clears all of its faults; a call that one of them delays continues. A lost GPU stays lost.
[[nodiscard]] Result<void> clear_faults(nvml_sim::MachineRecord& machine, std::uint32_t gpu);
/// The GPU falls off the bus.
[[nodiscard]] Result<void> lose_gpu(nvml_sim::MachineRecord& machine, std::uint32_t gpu);

inline constexpr std::int64_t kXidMax = 9'999;
inline constexpr std::int64_t kXidTimesMax = 1'000'000;
inline constexpr std::int64_t kXidsAtOnceMax = 1'000;
inline constexpr std::int64_t kInstanceMax = 1'000;
inline constexpr double kXidRateMax = 1'000;

struct XidWords {
  std::int32_t xid = 0;
  std::int64_t times = 1;
  std::optional<double> rate = std::nullopt;                 ///< per second, from now on; nothing: all at once
  std::optional<std::uint32_t> gpu_instance = std::nullopt;  ///< that the events name; without a rate only
};
/// Requires: the numbers are within their bounds.
[[nodiscard]] Result<void> raise_xid(nvml_sim::MachineRecord& machine, std::uint32_t gpu, const XidWords& words,
                                     std::int64_t now_us);

struct ProcessWords {
  std::string uuid;  ///< of a GPU or a MIG device
  std::uint32_t pid = 0;
  std::uint32_t memory_mib = 0;
};
/// A GPU in MIG mode accepts processes only on its MIG devices.
[[nodiscard]] Result<void> add_process(nvml_sim::MachineRecord& machine, const ProcessWords& words,
                                       std::int64_t now_us);
/// From a MIG device; from a GPU with all its MIG devices; without a UUID, from all of the machine.
[[nodiscard]] Result<void> remove_process(nvml_sim::MachineRecord& machine, const ProcessWords& words,
                                          std::int64_t now_us);

/// Figures to set. Absent ones stay as they are.
struct LoadWords {
  std::string uuid;                                              ///< of a GPU or a MIG device
  std::optional<std::uint32_t> graphics_percent = std::nullopt;  ///< of a MIG device: of its GPU instance
  std::optional<std::uint32_t> tensor_percent = std::nullopt;
  std::optional<std::uint32_t> dram_percent = std::nullopt;
  std::optional<std::uint32_t> temperature_c = std::nullopt;  ///< of GPUs only
  std::optional<std::uint32_t> power_watts = std::nullopt;    ///< of GPUs only
};
/// The device keeps these figures until they are cleared, whatever runs on it.
[[nodiscard]] Result<void> set_load(nvml_sim::MachineRecord& machine, const LoadWords& words, std::int64_t now_us);
/// The figures of the device follow its processes again.
[[nodiscard]] Result<void> clear_load(nvml_sim::MachineRecord& machine, const std::string& uuid, std::int64_t now_us);

[[nodiscard]] Result<void> reset_gpu(nvml_sim::MachineRecord& machine, std::uint32_t gpu, std::int64_t now_us);

}  // namespace berth::nvml_sim_cli
