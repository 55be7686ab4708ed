/// The GPUs of this machine as metrics that dashboards for NVIDIA's dcgm-exporter know: its names, labels, units and
/// types, as far as NVML has the figures. docs/reference/device_metrics.md lists them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "domain/values/metric.h"
#include "gpu/device/local_gpu.h"

namespace berth::device {

/// What is known of one GPU now.
struct MonitoredGpu {
  std::uint32_t index = 0;  ///< in the library's order, unless the figures have it
  const LocalGpu* known = nullptr;
  std::optional<GpuReading> reading = std::nullopt;       ///< absent: it cannot be read
  std::optional<GpuMeasurement> measured = std::nullopt;  ///< absent: as above, or the figures are old
  std::optional<GpuFigures> figures = std::nullopt;       ///< the same
  std::map<std::uint64_t, std::uint64_t> xids = {};       ///< counts by XID, since the process began
  std::uint64_t last_xid = 0;                             ///< 0: there was none
};

struct MetricNames {
  std::string hostname_label = "hostname";  ///< dcgm-exporter called it "Hostname" until May 2026
  std::string hostname = {};
  std::string driver = {};  ///< its version
};

/// Figures of a whole GPU have no label of an instance. Those of a GPU instance (memory, activity) have GPU_I_PROFILE
/// and GPU_I_ID in addition. A figure that is absent has no sample.
[[nodiscard]] std::vector<MetricFamily> device_metrics(const std::vector<MonitoredGpu>& gpus, const MetricNames& names);

}  // namespace berth::device
