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

TEST_F(ExportsState, LimitsAreThoseOfTheModel) {
  struct Limits {
    std::uint32_t min = 0, max = 0, enforced = 0, usage = 0, sm_clock = 0, memory_clock = 0;
  };
  const auto limits_of = [](Device gpu) {
    Limits limits;
    EXPECT_EQ(nvmlDeviceGetPowerManagementLimitConstraints(gpu, &limits.min, &limits.max), Code::kSuccess);
    EXPECT_EQ(nvmlDeviceGetEnforcedPowerLimit(gpu, &limits.enforced), Code::kSuccess);
    EXPECT_EQ(nvmlDeviceGetPowerUsage(gpu, &limits.usage), Code::kSuccess);
    EXPECT_EQ(nvmlDeviceGetMaxClockInfo(gpu, kClockSm, &limits.sm_clock), Code::kSuccess);
    EXPECT_EQ(nvmlDeviceGetMaxClockInfo(gpu, kClockMemory, &limits.memory_clock), Code::kSuccess);
    std::uint32_t limit = 0;
    EXPECT_EQ(nvmlDeviceGetPowerManagementLimit(gpu, &limit), Code::kSuccess);
    EXPECT_EQ(limit, limits.enforced);
    EXPECT_EQ(nvmlDeviceGetPowerManagementDefaultLimit(gpu, &limit), Code::kSuccess);
    EXPECT_EQ(limit, limits.max);
    return limits;
  };
  const Limits h100 = limits_of(device(0));
  EXPECT_EQ(h100.enforced, 700'000U);
  EXPECT_EQ(h100.usage, 70'000U);
  EXPECT_EQ(h100.sm_clock, 1'980U);
  const Limits a100 = limits_of(device(1));
  EXPECT_EQ(a100.enforced, 400'000U);
  EXPECT_EQ(a100.min, 100'000U);
  EXPECT_EQ(a100.usage, 50'000U);
  EXPECT_EQ(a100.sm_clock, 1'410U);
  EXPECT_EQ(a100.memory_clock, 1'215U);
  // No number of processes exceeds the limit.
  machine_.change(1, [](GpuRecord& gpu) {
    for (std::uint32_t pid = 1; pid <= 9; ++pid) EXPECT_TRUE(nvml_sim::add_process(gpu, {.pid = pid}));
  });
  EXPECT_EQ(limits_of(device(1)).usage, 360'000U);
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
