// GPM as clients use it: buffers, samples of GPUs and of MIG, figures from two samples.
#include <gtest/gtest.h>

#include <vector>

#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/testing/gpus.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::Simulated;
using nvml_sim::GpuRecord;

class ExportsGpm : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), Code::kSuccess);
    for (GpmSample* sample : {&first_, &second_}) ASSERT_EQ(nvmlGpmSampleAlloc(sample), Code::kSuccess);
  }
  /// The figures between the two samples, as a newer caller asks: its array is longer than the declared one.
  std::vector<GpmMetric> ask(const std::vector<std::uint32_t>& ids, Code wanted = Code::kSuccess) {
    std::vector<GpmMetrics> space(4);
    GpmMetrics& asked = space.front();
    asked.count = static_cast<std::uint32_t>(ids.size());
    asked.first = first_;
    asked.second = second_;
    GpmMetric* metrics = asked.metrics;
    for (std::size_t index = 0; index < ids.size(); ++index) metrics[index].id = ids[index];
    EXPECT_EQ(nvmlGpmMetricsGet(&asked), wanted);
    return {metrics, metrics + ids.size()};
  }

  Simulated machine_{{"H100-80GB-SXM5", "A100-40GB"}};
  GpmSample first_ = nullptr;
  GpmSample second_ = nullptr;
};

TEST_F(ExportsGpm, HasFiguresOfTwoSamples) {
  machine_.change(0, [](GpuRecord& gpu) { gpu.set_activity = {.graphics = 50, .tensor = 20, .dram = 10}; });
  ASSERT_EQ(nvmlGpmSampleGet(device(), first_), Code::kSuccess);
  ASSERT_EQ(nvmlGpmSampleGet(device(), second_), Code::kSuccess);
  const auto metrics = ask({kGpmGraphicsActive, kGpmTensorActive, kGpmDramActive, 2, 0});
  EXPECT_EQ(metrics[0].value, 50);
  EXPECT_EQ(metrics[1].value, 20);
  EXPECT_EQ(metrics[2].value, 10);
  EXPECT_EQ(metrics[3].code, Code::kNotSupported);
  EXPECT_EQ(metrics[4].code, Code::kInvalidArgument);
  EXPECT_EQ(ask(std::vector<std::uint32_t>(kGpmMetricsMin + 20, kGpmDramActive)).back().value, 10);
}

TEST_F(ExportsGpm, KnowsInstancesByTheirIds) {
  int id = 0;
  machine_.change(0, [&](GpuRecord& gpu) {
    gpu.is_mig_on = 1;
    const auto profile = nvml_sim::testing::profile_id(gpu, "3g.40gb");
    id = nvml_sim::create_gpu_instance(gpu, profile, {}, nvml_sim::testing::kRoot).value();
    gpu.gpu_instances[id].set_activity.graphics = 90;
  });
  const auto instance = static_cast<std::uint32_t>(id);
  ASSERT_EQ(nvmlGpmMigSampleGet(device(), instance, first_), Code::kSuccess);
  ASSERT_EQ(nvmlGpmMigSampleGet(device(), instance, second_), Code::kSuccess);
  EXPECT_EQ(ask({kGpmGraphicsActive}).front().value, 90);
  EXPECT_EQ(nvmlGpmMigSampleGet(device(), 15, second_), Code::kNotFound);
  ASSERT_EQ(nvmlGpmSampleGet(device(), second_), Code::kSuccess);
  EXPECT_EQ(ask({kGpmGraphicsActive}).front().code, Code::kInvalidArgument) << "an instance and its GPU";
}

TEST_F(ExportsGpm, SaysWhichGpusHaveIt) {
  GpmSupport support;
  ASSERT_EQ(nvmlGpmQueryDeviceSupport(device(0), &support), Code::kSuccess);
  EXPECT_EQ(support.is_supported, 1U);
  ASSERT_EQ(nvmlGpmQueryDeviceSupport(device(1), &support), Code::kSuccess);
  EXPECT_EQ(support.is_supported, 0U);
  EXPECT_EQ(nvmlGpmSampleGet(device(1), first_), Code::kNotSupported);
  support.version = 2;
  EXPECT_EQ(nvmlGpmQueryDeviceSupport(device(0), &support), Code::kArgumentVersionMismatch);
}

TEST_F(ExportsGpm, ABufferIsUsedWhileItExists) {
  ask({kGpmDramActive}, Code::kInvalidArgument);  // empty
  EXPECT_EQ(nvmlGpmSampleFree(second_), Code::kSuccess);
  EXPECT_EQ(nvmlGpmSampleFree(second_), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpmSampleGet(device(), second_), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpmSampleGet(device(), nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpmSampleAlloc(nullptr), Code::kInvalidArgument);
  EXPECT_EQ(nvmlGpmMetricsGet(nullptr), Code::kInvalidArgument);
  ASSERT_EQ(nvmlShutdown(), Code::kSuccess);
  EXPECT_EQ(nvmlGpmSampleAlloc(&first_), Code::kUninitialized);
}

TEST_F(ExportsGpm, MediaEnginesAreIdleAndHaveNoFigureWithMig) {
  std::uint32_t percent = 9;
  std::uint32_t period_us = 0;
  machine_.change(0, [](GpuRecord& gpu) { gpu.is_mig_on = 0; });
  ASSERT_EQ(nvmlDeviceGetEncoderUtilization(device(), &percent, &period_us), Code::kSuccess);
  EXPECT_EQ(percent, 0U);
  EXPECT_GT(period_us, 0U);
  machine_.change(0, [](GpuRecord& gpu) { gpu.is_mig_on = 1; });
  EXPECT_EQ(nvmlDeviceGetDecoderUtilization(device(), &percent, &period_us), Code::kNotSupported);
}

}  // namespace
}  // namespace berth::nvml_abi
