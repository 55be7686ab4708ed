#include "gpu/nvml/detail/gpu_measurement.h"

#include <gtest/gtest.h>

#include "gpu/nvml/test_failures.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;
using nvml_abi::Device;

constexpr std::uint64_t kMebibyte = 1U << 20U;

/// A driver that gives every figure.
Functions measuring_driver() {
  Functions functions;
  functions.nvmlDeviceGetMemoryInfo = [](Device, nvml_abi::MemoryV1* memory) {
    *memory = {.total_bytes = 100 * kMebibyte, .free_bytes = 60 * kMebibyte, .used_bytes = 40 * kMebibyte};
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetMemoryInfo_v2 = [](Device, nvml_abi::MemoryV2* memory) {
    EXPECT_EQ(memory->version, nvml_abi::version_of<nvml_abi::MemoryV2>(2));
    *memory = {.total_bytes = 100 * kMebibyte, .reserved_bytes = 10 * kMebibyte, .used_bytes = 30 * kMebibyte};
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetUtilizationRates = [](Device, nvml_abi::Utilization* utilization) {
    *utilization = {.gpu_percent = 97, .memory_percent = 40};
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetTemperature = [](Device, std::uint32_t, std::uint32_t* celsius) {
    *celsius = 50;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetTemperatureV = [](Device, nvml_abi::TemperatureV1* temperature) {
    temperature->celsius = 51;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetFieldValues = [](Device, std::int32_t, nvml_abi::FieldValue* field) {
    EXPECT_EQ(field->field_id, nvml_abi::kFieldMemoryTemperature);
    field->value.unsigned_int = 61;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetPowerUsage = [](Device, std::uint32_t* milliwatts) {
    *milliwatts = 312'345;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetEnforcedPowerLimit = [](Device, std::uint32_t* milliwatts) {
    *milliwatts = 400'000;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetClockInfo = [](Device, std::uint32_t kind, std::uint32_t* mhz) {
    *mhz = kind == nvml_abi::kClockSm ? 1'410 : 1'593;
    return Code::kSuccess;
  };
  return functions;
}

TEST(GpuMeasurementOfNvml, HasEveryFigureThatTheDriverGives) {
  EXPECT_EQ(measure_gpu(measuring_driver(), nullptr).value(), (GpuMeasurement{.memory_total_mib = 100,
                                                                              .memory_used_mib = 30,
                                                                              .utilization_percent = 97,
                                                                              .memory_utilization_percent = 40,
                                                                              .temperature_celsius = 51,
                                                                              .memory_temperature_celsius = 61,
                                                                              .power_milliwatts = 312'345,
                                                                              .power_limit_milliwatts = 400'000,
                                                                              .sm_clock_mhz = 1'410,
                                                                              .memory_clock_mhz = 1'593}));
}

TEST(GpuMeasurementOfNvml, OldDriversGiveWhatTheyHave) {
  Functions old = measuring_driver();
  old.nvmlDeviceGetMemoryInfo_v2 = nullptr;
  old.nvmlDeviceGetTemperatureV = nullptr;
  old.nvmlDeviceGetFieldValues = nullptr;
  const GpuMeasurement measured = measure_gpu(old, nullptr).value();
  EXPECT_EQ(measured.memory_used_mib, 40) << "with the driver's reserve";
  EXPECT_EQ(measured.temperature_celsius, 50);
  EXPECT_EQ(measured.memory_temperature_celsius, std::nullopt);
  EXPECT_EQ(measure_gpu(Functions(), nullptr).value(), GpuMeasurement());
}

TEST(GpuMeasurementOfNvml, FiguresThatTheDriverRefusesAreAbsent) {
  Functions partly = measuring_driver();
  partly.nvmlDeviceGetUtilizationRates = [](Device, nvml_abi::Utilization*) { return Code::kNotSupported; };
  partly.nvmlDeviceGetPowerUsage = [](Device, std::uint32_t*) { return Code::kUnknown; };
  partly.nvmlDeviceGetFieldValues = [](Device, std::int32_t, nvml_abi::FieldValue* field) {
    field->code = Code::kNotSupported;
    return Code::kSuccess;
  };
  partly.nvmlDeviceGetMemoryInfo_v2 = [](Device, nvml_abi::MemoryV2* memory) {
    memory->used_bytes = nvml_abi::kValueNotAvailable;
    memory->total_bytes = kMebibyte;
    return Code::kSuccess;
  };
  const GpuMeasurement measured = measure_gpu(partly, nullptr).value();
  EXPECT_EQ(measured.utilization_percent, std::nullopt);
  EXPECT_EQ(measured.power_milliwatts, std::nullopt);
  EXPECT_EQ(measured.power_limit_milliwatts, 400'000);
  EXPECT_EQ(measured.memory_temperature_celsius, std::nullopt);
  EXPECT_EQ(measured.memory_used_mib, std::nullopt);
  EXPECT_EQ(measured.memory_total_mib, 1);
}

TEST(GpuMeasurementOfNvml, ALostGpuIsAFailure) {
  Functions lost = measuring_driver();
  lost.nvmlDeviceGetPowerUsage = [](Device, std::uint32_t*) { return Code::kGpuIsLost; };
  lost.nvmlDeviceGetClockInfo = [](Device, std::uint32_t, std::uint32_t*) {
    ADD_FAILURE() << "asked again";
    return Code::kGpuIsLost;
  };
  const auto failure = failure_of(measure_gpu(lost, nullptr));
  EXPECT_TRUE(failure.is_gpu_lost);
  EXPECT_EQ(failure.call, "nvmlDeviceGetPowerUsage");
}

}  // namespace
}  // namespace berth::edges::detail
