#include "gpu/device/device_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace berth::device {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;
using Figure = std::optional<double>;

template <class T>
Figure figure(const std::optional<T>& value) {
  return value ? Figure(static_cast<double>(*value)) : std::nullopt;
}

/// A family whose samples are figures of whole GPUs.
struct GpuFamily {
  const char* name;
  const char* help;
  MetricKind kind;
  std::function<Figure(const GpuMeasurement&, const GpuFigures&)> of;
};

const std::vector<GpuFamily>& gpu_families() {
  using M = GpuMeasurement;
  using F = GpuFigures;
  constexpr MetricKind kGauge = MetricKind::kGauge;
  constexpr MetricKind kCounter = MetricKind::kCounter;
  constexpr double kMilliwattsPerWatt = 1'000;
  static const std::vector<GpuFamily> families = {
      {"DCGM_FI_DEV_SM_CLOCK", "Clock of the streaming multiprocessors, MHz.", kGauge,
       [](const M& m, const F&) { return figure(m.sm_clock_mhz); }},
      {"DCGM_FI_DEV_MEM_CLOCK", "Clock of the memory, MHz.", kGauge,
       [](const M& m, const F&) { return figure(m.memory_clock_mhz); }},
      {"DCGM_FI_DEV_MEMORY_TEMP", "Temperature of the memory, degrees Celsius.", kGauge,
       [](const M& m, const F&) { return figure(m.memory_temperature_celsius); }},
      {"DCGM_FI_DEV_GPU_TEMP", "Temperature of the GPU, degrees Celsius.", kGauge,
       [](const M& m, const F&) { return figure(m.temperature_celsius); }},
      {"DCGM_FI_DEV_POWER_USAGE", "Power that the GPU draws, W.", kGauge,
       [](const M& m, const F&) {
         return m.power_milliwatts ? Figure(static_cast<double>(*m.power_milliwatts) / kMilliwattsPerWatt)
                                   : std::nullopt;
       }},
      {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy since the driver was loaded, mJ.", kCounter,
       [](const M&, const F& f) { return figure(f.energy_millijoules); }},
      {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Retries on the PCIe bus.", kCounter,
       [](const M&, const F& f) { return figure(f.pcie_replays); }},
      {"DCGM_FI_PROF_PCIE_TX_BYTES", "Sent by the GPU over the PCIe bus, with headers, bytes per second.", kGauge,
       [](const M&, const F& f) { return f.pcie_sent_bytes; }},
      {"DCGM_FI_PROF_PCIE_RX_BYTES", "Received by the GPU over the PCIe bus, with headers, bytes per second.", kGauge,
       [](const M&, const F& f) { return f.pcie_received_bytes; }},
      // A rate, which dcgm-exporter calls a counter.
      {"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "Data over all NVLinks, both ways, MB per second.", kCounter,
       [](const M&, const F& f) { return f.nvlink_megabytes; }},
      {"DCGM_FI_DEV_VGPU_LICENSE_STATUS", "1 if virtual GPUs are licensed, else 0.", kGauge,
       [](const M&, const F& f) { return figure(f.is_vgpu_licensed); }},
      {"DCGM_FI_DEV_GPU_UTIL", "Part of the time in which a kernel ran, percent. A GPU in MIG mode has none.", kGauge,
       [](const M& m, const F&) { return figure(m.utilization_percent); }},
      {"DCGM_FI_DEV_MEM_COPY_UTIL", "Part of the time in which memory was read or written, percent.", kGauge,
       [](const M& m, const F&) { return figure(m.memory_utilization_percent); }},
      {"DCGM_FI_DEV_ENC_UTIL", "Part of the time in which the video encoder was used, percent.", kGauge,
       [](const M&, const F& f) { return figure(f.encoder_percent); }},
      {"DCGM_FI_DEV_DEC_UTIL", "Part of the time in which the video decoder was used, percent.", kGauge,
       [](const M&, const F& f) { return figure(f.decoder_percent); }},
      {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows of memory remapped after uncorrectable errors.", kCounter,
       [](const M&, const F& f) { return figure(f.uncorrectable_remapped_rows); }},
      {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows of memory remapped after correctable errors.", kCounter,
       [](const M&, const F& f) { return figure(f.correctable_remapped_rows); }},
      {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "1 after a row of memory could not be remapped, else 0.", kGauge,
       [](const M&, const F& f) { return figure(f.has_row_remap_failed); }},
  };
  return families;
}

/// A family whose samples are figures of whole GPUs and of GPU instances.
struct InstanceFamily {
  const char* name;
  const char* help;
  std::function<Figure(const GpuMemory&, const GpuActivity&)> of;
};

const std::vector<InstanceFamily>& instance_families() {
  using M = GpuMemory;
  using A = GpuActivity;
  static const std::vector<InstanceFamily> families = {
      {"DCGM_FI_DEV_FB_FREE", "Memory that is free, MiB.", [](const M& m, const A&) { return figure(m.free_mib); }},
      {"DCGM_FI_DEV_FB_USED", "Memory that is used, MiB.", [](const M& m, const A&) { return figure(m.used_mib); }},
      {"DCGM_FI_DEV_FB_RESERVED", "Memory that the driver reserves, MiB.",
       [](const M& m, const A&) { return figure(m.reserved_mib); }},
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Part of the time in which any engine was active, 0 to 1.",
       [](const M&, const A& a) { return a.graphics; }},
      {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Part of the time in which tensor cores were active, 0 to 1.",
       [](const M&, const A& a) { return a.tensor; }},
      {"DCGM_FI_PROF_DRAM_ACTIVE", "Part of the bandwidth of the memory that was used, 0 to 1.",
       [](const M&, const A& a) { return a.dram; }},
  };
  return families;
}

/// The name of the profile of an instance.
std::string profile_of(const MonitoredGpu& gpu, std::uint32_t instance) {
  if (!gpu.reading) return "";
  const auto seen = std::ranges::find(gpu.reading->instances, instance, &GpuInstanceSeen::id);
  if (seen == gpu.reading->instances.end()) return "";
  const auto& profiles = gpu.known->model.profiles;
  const auto id = static_cast<int>(seen->profile_id);
  const auto profile = std::ranges::find(profiles, id, &MigProfile::device_profile_id);
  return profile == profiles.end() ? fmt::format("profile_{}", id) : profile->name;
}

/// The labels of samples of a GPU, and of one of its instances.
class SampleLabels {
 public:
  explicit SampleLabels(const MetricNames& names) : names_(names) {}

  [[nodiscard]] Labels of_gpu(const MonitoredGpu& gpu) const { return end(begin(gpu)); }
  [[nodiscard]] Labels of_instance(const MonitoredGpu& gpu, std::uint32_t instance) const {
    Labels labels = begin(gpu);
    labels.emplace_back("GPU_I_PROFILE", profile_of(gpu, instance));
    labels.emplace_back("GPU_I_ID", fmt::format("{}", instance));
    return end(std::move(labels));
  }

 private:
  static Labels begin(const MonitoredGpu& gpu) {
    const std::uint32_t index = gpu.figures && gpu.figures->index ? *gpu.figures->index : gpu.index;
    return {{"gpu", fmt::format("{}", index)},
            {"UUID", gpu.known->uuid},
            {"pci_bus_id", gpu.known->pci_bus_id},
            {"device", fmt::format("nvidia{}", index)},
            {"modelName", gpu.known->name}};
  }
  [[nodiscard]] Labels end(Labels labels) const {
    labels.emplace_back(names_.hostname_label, names_.hostname);
    labels.emplace_back("DCGM_FI_DRIVER_VERSION", names_.driver);
    return labels;
  }

  const MetricNames& names_;
};

void add(MetricFamily& family, Labels labels, const Figure& value) {
  if (value) family.samples.push_back({.labels = std::move(labels), .value = *value});
}

MetricFamily family_of_gpus(const GpuFamily& shown, const std::vector<MonitoredGpu>& gpus, const SampleLabels& labels) {
  MetricFamily family{.name = shown.name, .help = shown.help, .kind = shown.kind};
  for (const MonitoredGpu& gpu : gpus) {
    if (gpu.measured && gpu.figures) add(family, labels.of_gpu(gpu), shown.of(*gpu.measured, *gpu.figures));
  }
  return family;
}

MetricFamily family_of_instances(const InstanceFamily& shown, const std::vector<MonitoredGpu>& gpus,
                                 const SampleLabels& labels) {
  MetricFamily family{.name = shown.name, .help = shown.help};
  for (const MonitoredGpu& gpu : gpus) {
    if (!gpu.figures) continue;
    add(family, labels.of_gpu(gpu), shown.of(gpu.figures->memory, gpu.figures->activity));
    for (const GpuInstanceFigures& instance : gpu.figures->instances) {
      add(family, labels.of_instance(gpu, instance.id), shown.of(instance.memory, instance.activity));
    }
  }
  return family;
}

MetricFamily last_xids(const std::vector<MonitoredGpu>& gpus, const SampleLabels& labels) {
  MetricFamily family{.name = "DCGM_FI_DEV_XID_ERRORS", .help = "The last XID since the process began; 0: none."};
  for (const MonitoredGpu& gpu : gpus) add(family, labels.of_gpu(gpu), static_cast<double>(gpu.last_xid));
  return family;
}

MetricFamily xid_counts(const std::vector<MonitoredGpu>& gpus) {
  MetricFamily family{.name = "berth_xid_total",
                      .help = "XIDs that the driver reported since the process began.",
                      .kind = MetricKind::kCounter};
  for (const MonitoredGpu& gpu : gpus) {
    for (const auto& [xid, count] : gpu.xids) {
      add(family, {{"UUID", gpu.known->uuid}, {"xid", fmt::format("{}", xid)}}, static_cast<double>(count));
    }
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> device_metrics(const std::vector<MonitoredGpu>& gpus, const MetricNames& names) {
  const SampleLabels labels(names);
  std::vector<MetricFamily> families;
  for (const GpuFamily& family : gpu_families()) families.push_back(family_of_gpus(family, gpus, labels));
  for (const InstanceFamily& family : instance_families()) {
    families.push_back(family_of_instances(family, gpus, labels));
  }
  families.push_back(last_xids(gpus, labels));
  families.push_back(xid_counts(gpus));
  return families;
}

}  // namespace berth::device
