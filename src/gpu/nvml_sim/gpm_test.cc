#include "gpu/nvml_sim/gpm.h"

#include <gtest/gtest.h>

#include "gpu/nvml_abi/constants.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim {
namespace {

using nvml_abi::Code;
using testing::gpu_of;
using testing::kRoot;
using testing::profile_id;

GpmReading reading_of(const GpuRecord& gpu, std::optional<std::uint32_t> instance, std::int64_t at_us) {
  return read_gpm(gpu, instance, at_us).value();
}

double metric_of(const GpmReading& first, const GpmReading& second, std::uint32_t metric) {
  return gpm_metric(first, second, metric).value();
}

TEST(Gpm, ExistsFromHopperOn) {
  EXPECT_TRUE(has_gpm(gpu_of("H100-80GB-SXM5")));
  EXPECT_FALSE(has_gpm(gpu_of("A100-80GB")));
  EXPECT_EQ(read_gpm(gpu_of("A100-80GB"), std::nullopt, 0).error(), Code::kNotSupported);
}

TEST(Gpm, IsTheMeanOfBothSamples) {
  GpuRecord gpu = gpu_of("H100-80GB-SXM5");
  gpu.is_mig_on = 0;
  const GpmReading idle = reading_of(gpu, std::nullopt, 1);
  gpu.set_activity = {.graphics = 80, .tensor = 60, .dram = 10};
  const GpmReading busy = reading_of(gpu, std::nullopt, 2);
  EXPECT_EQ(metric_of(idle, busy, nvml_abi::kGpmGraphicsActive), 40);
  EXPECT_EQ(metric_of(idle, busy, nvml_abi::kGpmTensorActive), 30);
  EXPECT_EQ(metric_of(idle, busy, nvml_abi::kGpmDramActive), 5);
  EXPECT_EQ(metric_of(idle, busy, nvml_abi::kGpmPcieSent), 1'600);
  EXPECT_EQ(metric_of(idle, busy, nvml_abi::kGpmPcieReceived), 3'200);
}

TEST(Gpm, OfAPartitionedGpuIsThatOfItsInstances) {
  GpuRecord gpu = gpu_of("H100-80GB-SXM5");
  const int small = create_gpu_instance(gpu, profile_id(gpu, "1g.10gb"), {}, kRoot).value();
  const int large = create_gpu_instance(gpu, profile_id(gpu, "3g.40gb"), {}, kRoot).value();
  gpu.gpu_instances[small].set_activity.graphics = 70;
  gpu.gpu_instances[large].set_activity.graphics = 35;
  const auto id = static_cast<std::uint32_t>(small);
  EXPECT_EQ(metric_of(reading_of(gpu, id, 1), reading_of(gpu, id, 2), nvml_abi::kGpmGraphicsActive), 70);
  EXPECT_EQ(activity_of(gpu).graphics_percent, (70U + 3 * 35U) / 7);
}

TEST(Gpm, FollowsTheProcessesOfAnInstance) {
  GpuRecord gpu = gpu_of("H100-80GB-SXM5");
  const int id = create_gpu_instance(gpu, profile_id(gpu, "3g.40gb"), {}, kRoot).value();
  const int compute = create_compute_instance(gpu, id, 2, {}, kRoot).value();
  EXPECT_EQ(activity_of(gpu, id), Activity());
  ASSERT_TRUE(add_process(gpu, {.pid = 7,
                                .gpu_instance = static_cast<std::uint32_t>(id),
                                .compute_instance = static_cast<std::uint32_t>(compute),
                                .memory_mib = gpu.gpu_instances[id].memory_mib / 2}));
  EXPECT_EQ(activity_of(gpu, id), (Activity{.graphics_percent = 24, .tensor_percent = 12, .dram_percent = 50}));
}

TEST(Gpm, RefusesWhatCannotBeCompared) {
  GpuRecord gpu = gpu_of("H100-80GB-SXM5");
  const auto id = static_cast<std::uint32_t>(create_gpu_instance(gpu, profile_id(gpu, "1g.10gb"), {}, kRoot).value());
  const GpmReading whole = reading_of(gpu, std::nullopt, 1);
  const GpmReading instance = reading_of(gpu, id, 2);
  EXPECT_EQ(gpm_metric(whole, instance, nvml_abi::kGpmGraphicsActive).error(), Code::kInvalidArgument);
  EXPECT_EQ(gpm_metric(whole, whole, nvml_abi::kGpmGraphicsActive).error(), Code::kInvalidArgument);
  EXPECT_EQ(gpm_metric(whole, reading_of(gpu, std::nullopt, 2), 0).error(), Code::kInvalidArgument);
  EXPECT_EQ(gpm_metric(whole, reading_of(gpu, std::nullopt, 2), 2).error(), Code::kNotSupported);
  EXPECT_EQ(read_gpm(gpu, 15, 3).error(), Code::kNotFound);
  EXPECT_EQ(read_gpm(gpu, kGpuInstancesMax, 3).error(), Code::kNotFound);
}

}  // namespace
}  // namespace berth::nvml_sim
