// The state of devices, as far as real GPUs were measured (docs/reference/nvml.md) or MIG devices differ.
#include <gtest/gtest.h>

#include <cstdint>

#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim_library/exports.h"
#include "gpu/nvml_sim_library/testing/simulated.h"

namespace berth::nvml_abi {
namespace {

using edges::testing::device;
using edges::testing::kMib;
using edges::testing::Simulated;
using nvml_sim::GpuRecord;

class ExportsState : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvmlInit_v2(), Code::kSuccess); }
  Simulated machine_{{"H100-80GB-SXM5", "A100-40GB"}};
};

TEST_F(ExportsState, AWrongVersionIsAnsweredAsTheFunctionDoes) {
  const Device gpu = device();
  MemoryV2 memory;
  for (const std::uint32_t version :
       {0U, 2U, version_of<MemoryV2>(1), version_of<MemoryV2>(3), version_of<MemoryV2>(2) + 1}) {
    memory.version = version;
    EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(gpu, &memory), Code::kFunctionNotFound) << version;
  }
  TemperatureV1 temperature{.version = version_of<TemperatureV1>(2)};
  EXPECT_EQ(nvmlDeviceGetTemperatureV(gpu, &temperature), Code::kArgumentVersionMismatch);
  temperature.version = version_of<TemperatureV1>(1);
  EXPECT_EQ(nvmlDeviceGetTemperatureV(gpu, &temperature), Code::kSuccess);
  temperature.sensor = 9;
  EXPECT_EQ(nvmlDeviceGetTemperatureV(gpu, &temperature), Code::kInvalidArgument);
}

TEST_F(ExportsState, TheDriversOwnMemoryCountsAsUsedInTheFirstVersion) {
  const Device gpu = device();
  MemoryV1 first;
  MemoryV2 second{.version = version_of<MemoryV2>(2)};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(gpu, &first), Code::kSuccess);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(gpu, &second), Code::kSuccess);
  EXPECT_EQ(first.total_bytes, 81'559 * kMib);
  EXPECT_EQ(first.used_bytes, 480 * kMib);
  EXPECT_EQ(first.free_bytes, first.total_bytes - first.used_bytes);
  EXPECT_EQ(second.reserved_bytes, 480 * kMib);
  EXPECT_EQ(second.used_bytes, 0U);
  EXPECT_EQ(second.version, version_of<MemoryV2>(2));
}

TEST_F(ExportsState, FieldsHaveCodesOfTheirOwn) {
  FieldValue fields[5];
  fields[0].field_id = kFieldIsMigResetless;
  fields[1].field_id = kFieldIsMigQueryModeIndependent;
  fields[2].field_id = 0;
  fields[3].field_id = kFieldCount;
  fields[4].field_id = kFieldRetiredPending;
  ASSERT_EQ(nvmlDeviceGetFieldValues(device(0), 5, fields), Code::kSuccess);
  EXPECT_EQ(fields[0].value.unsigned_int, 1U);
  EXPECT_EQ(fields[1].value.unsigned_int, 1U);
  EXPECT_EQ(fields[2].code, Code::kInvalidArgument);
  EXPECT_EQ(fields[3].code, Code::kInvalidArgument);
  EXPECT_EQ(fields[4].code, Code::kNotSupported);
  EXPECT_GT(fields[0].measured_us, 0);
  ASSERT_EQ(nvmlDeviceGetFieldValues(device(1), 1, fields), Code::kSuccess);
  EXPECT_EQ(fields[0].value.unsigned_int, 0U) << "Ampere needs a reset";
  EXPECT_EQ(nvmlDeviceGetFieldValues(device(), -1, fields), Code::kInvalidArgument);
}

TEST_F(ExportsState, SmallThingsThatWereMeasured) {
  const Device gpu = device();
  std::uint32_t count = 9;
  EXPECT_EQ(nvmlDeviceGetNumFans(gpu, &count), Code::kSuccess);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(nvmlDeviceGetRetiredPages(gpu, kRetiredBySingleBit, &count, nullptr), Code::kNotSupported);
}

TEST_F(ExportsState, AMigDeviceHasNoLoadOrHeatOfItsOwn) {
  GpuInstance instance = nullptr;
  ComputeInstance compute = nullptr;
  Device mig_device = nullptr;
  ASSERT_EQ(nvmlDeviceCreateGpuInstance(device(), 19, &instance), Code::kSuccess);
  ASSERT_EQ(nvmlGpuInstanceCreateComputeInstance(instance, 0, &compute), Code::kSuccess);
  ASSERT_EQ(nvmlDeviceGetMigDeviceHandleByIndex(device(), 0, &mig_device), Code::kSuccess);
  Utilization utilization;
  std::uint32_t number = 0;
  std::uint64_t energy = 0;
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(mig_device, &utilization), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device(), &utilization), Code::kNotSupported) << "MIG is on";
  EXPECT_EQ(nvmlDeviceGetTemperature(mig_device, kTemperatureGpu, &number), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceGetPowerUsage(mig_device, &number), Code::kNotSupported);
  EXPECT_EQ(nvmlDeviceGetTotalEnergyConsumption(mig_device, &energy), Code::kNotSupported);
  machine_.change(0, [](GpuRecord& gpu) {
    ASSERT_TRUE(nvml_sim::add_process(gpu, {.pid = 1, .gpu_instance = 13, .compute_instance = 0, .memory_mib = 50}));
  });
  GpuInstanceDescription description;
  ASSERT_EQ(nvmlGpuInstanceGetInfo(instance, &description), Code::kSuccess);
  ASSERT_EQ(description.id, 13U);
  MemoryV1 memory;
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(mig_device, &memory), Code::kSuccess);
  EXPECT_EQ(memory.total_bytes, 9'984 * kMib);
  EXPECT_EQ(memory.used_bytes, 50 * kMib);
}

}  // namespace
}  // namespace berth::nvml_abi
