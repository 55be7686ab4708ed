/// GPU performance monitoring (GPM): the activity of a simulated GPU or GPU instance between two samples. Plausible
/// values for testing readers, as in telemetry.h.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim/telemetry.h"

namespace berth::nvml_sim {

/// Whether the model has GPM: from Hopper on.
[[nodiscard]] bool has_gpm(const GpuRecord& gpu);

/// What a sample holds.
struct GpmReading {
  std::uint32_t gpu = 0;
  std::uint32_t generation = 0;  ///< of the GPU instance; 0: of the whole GPU
  std::int64_t at_us = 0;
  Activity activity;
};

/// A sample of the whole GPU, or of a GPU instance. kNotSupported: the model has no GPM. kNotFound: no such instance.
[[nodiscard]] Answer<GpmReading> read_gpm(const GpuRecord& gpu, std::optional<std::uint32_t> gpu_instance,
                                          std::int64_t now_us);

/// A metric, in percent or MiB/s: the mean of both samples. kInvalidArgument: the samples are of different devices, or
/// the second is not later, or there is no such metric. kNotSupported: it is not simulated.
[[nodiscard]] Answer<double> gpm_metric(const GpmReading& first, const GpmReading& second, std::uint32_t metric);

}  // namespace berth::nvml_sim
