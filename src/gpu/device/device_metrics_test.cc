#include "gpu/device/device_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace berth::device {
namespace {

LocalGpu monitored_model() {
  LocalGpu gpu;
  gpu.uuid = "GPU-1";
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.pci_bus_id = "00000000:07:00.0";
  gpu.model.profiles.resize(2);
  gpu.model.profiles[0].name = "1g.10gb";
  gpu.model.profiles[0].device_profile_id = 19;
  gpu.model.profiles[1].name = "3g.40gb";
  gpu.model.profiles[1].device_profile_id = 9;
  return gpu;
}

/// A GPU with every figure.
MonitoredGpu whole_gpu(const LocalGpu& known) {
  return {.index = 7,
          .known = &known,
          .reading = GpuReading(),
          .measured = GpuMeasurement{.utilization_percent = 97,
                                     .memory_utilization_percent = 40,
                                     .temperature_celsius = 51,
                                     .memory_temperature_celsius = 61,
                                     .power_milliwatts = 312'345,
                                     .sm_clock_mhz = 1'410,
                                     .memory_clock_mhz = 1'593},
          .figures = GpuFigures{.index = 0,
                                .memory = {.free_mib = 60, .used_mib = 30, .reserved_mib = 10},
                                .activity = {.graphics = 0.5, .tensor = 0.25, .dram = 0.125},
                                .encoder_percent = 1,
                                .decoder_percent = 2,
                                .energy_millijoules = 9'000,
                                .pcie_replays = 3,
                                .pcie_sent_bytes = 7e9,
                                .pcie_received_bytes = 8e9,
                                .nvlink_megabytes = 12'345.5,
                                .is_vgpu_licensed = false,
                                .correctable_remapped_rows = 4,
                                .uncorrectable_remapped_rows = 5,
                                .has_row_remap_failed = false}};
}

const MetricFamily& family(const std::vector<MetricFamily>& families, const std::string& name) {
  const auto found = std::ranges::find(families, name, &MetricFamily::name);
  EXPECT_NE(found, families.end()) << name;
  return *found;
}

double only_value(const std::vector<MetricFamily>& families, const std::string& name) {
  const auto& samples = family(families, name).samples;
  EXPECT_EQ(samples.size(), 1U) << name;
  return samples.empty() ? -1 : std::get<double>(samples.front().value);
}

std::vector<std::string> names_with_samples(const std::vector<MetricFamily>& families) {
  std::vector<std::string> names;
  for (const MetricFamily& each : families) {
    if (!each.samples.empty()) names.push_back(each.name);
  }
  return names;
}

TEST(DeviceMetrics, HaveTheNamesUnitsAndLabelsOfDcgmExporter) {
  const LocalGpu known = monitored_model();
  const auto families = device_metrics({whole_gpu(known)}, {.hostname = "node-1", .driver = "580.95.05"});
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_SM_CLOCK"), 1'410);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_MEM_CLOCK"), 1'593);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_MEMORY_TEMP"), 61);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_GPU_TEMP"), 51);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_POWER_USAGE"), 312.345);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"), 9'000);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_GPU_UTIL"), 97);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_MEM_COPY_UTIL"), 40);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_FB_FREE"), 60);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_FB_USED"), 30);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_FB_RESERVED"), 10);
  EXPECT_EQ(only_value(families, "DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 0.5);
  EXPECT_EQ(only_value(families, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), 0.25);
  EXPECT_EQ(only_value(families, "DCGM_FI_PROF_DRAM_ACTIVE"), 0.125);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_ROW_REMAP_FAILURE"), 0);
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_XID_ERRORS"), 0);
  const MetricFamily& energy = family(families, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION");
  EXPECT_EQ(energy.kind, MetricKind::kCounter);
  using Labels = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(energy.samples.front().labels, (Labels{{"gpu", "0"},
                                                   {"UUID", "GPU-1"},
                                                   {"pci_bus_id", "00000000:07:00.0"},
                                                   {"device", "nvidia0"},
                                                   {"modelName", "NVIDIA H100 80GB HBM3"},
                                                   {"hostname", "node-1"},
                                                   {"DCGM_FI_DRIVER_VERSION", "580.95.05"}}));
}

TEST(DeviceMetrics, InstancesHaveTheirOwnMemoryAndActivity) {
  const LocalGpu known = monitored_model();
  MonitoredGpu gpu = whole_gpu(known);
  gpu.measured->utilization_percent.reset();
  gpu.reading->instances = {{.id = 2, .profile_id = 9, .compute_instances = {}},
                            {.id = 5, .profile_id = 77, .compute_instances = {}}};
  gpu.figures->instances = {{.id = 2, .memory = {.used_mib = 11}, .activity = {.tensor = 0.75}}, {.id = 5}};
  gpu.figures->instances.back().activity.tensor = 0.1;
  const auto families = device_metrics({gpu}, {.hostname_label = "Hostname", .hostname = "node-1"});
  EXPECT_TRUE(family(families, "DCGM_FI_DEV_GPU_UTIL").samples.empty());
  EXPECT_EQ(family(families, "DCGM_FI_DEV_POWER_USAGE").samples.size(), 1U) << "of the GPU alone";
  const auto& used = family(families, "DCGM_FI_DEV_FB_USED").samples;
  ASSERT_EQ(used.size(), 2U) << "the GPU, and the instance whose memory is known";
  EXPECT_EQ(std::get<double>(used[1].value), 11);
  const auto& labels = used[1].labels;
  ASSERT_EQ(labels.size(), 9U);
  EXPECT_EQ(labels[5], (std::pair<std::string, std::string>("GPU_I_PROFILE", "3g.40gb")));
  EXPECT_EQ(labels[6], (std::pair<std::string, std::string>("GPU_I_ID", "2")));
  EXPECT_EQ(labels[7], (std::pair<std::string, std::string>("Hostname", "node-1")));
  const auto& tensor = family(families, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE").samples;
  ASSERT_EQ(tensor.size(), 3U);
  EXPECT_EQ(tensor[2].labels[5].second, "profile_77") << "no profile of the model has that id";
}

TEST(DeviceMetrics, WhatIsUnknownHasNoSample) {
  const LocalGpu known = monitored_model();
  MonitoredGpu unread{.known = &known, .xids = {{79, 1}, {31, 4}}, .last_xid = 79};
  const auto families = device_metrics({unread}, {});
  EXPECT_EQ(names_with_samples(families), (std::vector<std::string>{"DCGM_FI_DEV_XID_ERRORS", "berth_xid_total"}));
  EXPECT_EQ(only_value(families, "DCGM_FI_DEV_XID_ERRORS"), 79);
  const auto& xids = family(families, "berth_xid_total");
  EXPECT_EQ(xids.kind, MetricKind::kCounter);
  ASSERT_EQ(xids.samples.size(), 2U);
  EXPECT_EQ(xids.samples[0], (MetricSample{.labels = {{"UUID", "GPU-1"}, {"xid", "31"}}, .value = 4.0}));
  EXPECT_TRUE(names_with_samples(device_metrics({}, {})).empty());
}

}  // namespace
}  // namespace berth::device
