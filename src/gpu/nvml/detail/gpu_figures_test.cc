#include "gpu/nvml/detail/gpu_figures.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "gpu/nvml/test_failures.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::GpmSample;

constexpr std::uint64_t kFigureMib = 1U << 20U;

/// What the driver below has been asked, and what it answers.
struct GpmDriver {
  int buffers = 0;  ///< allocated now
  std::size_t allocations = 0;
  int samples = 0;  ///< taken
  int metric_questions = 0;
  double percent = 50;
  Code code = Code::kSuccess;  ///< of each metric
  bool is_supported = true;
  double pcie_mib = 3;
  std::uint64_t nvlink_kib = 1'000'000;  ///< in each direction
  bool is_licensed = true;
};
GpmDriver gpm_driver;

Functions monitored_driver() {
  gpm_driver = {};
  Functions functions;
  functions.nvmlDeviceGetIndex = [](Device, std::uint32_t* index) {
    *index = 3;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetMemoryInfo_v2 = [](Device device, nvml_abi::MemoryV2* memory) {
    const std::uint64_t mib = device == nullptr ? 100 : 40;
    *memory = {.reserved_bytes = 10 * kFigureMib,
               .free_bytes = (mib - 10) * kFigureMib / 2,
               .used_bytes = (mib - 10) * kFigureMib / 2};
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetHandleByUUID = [](const char*, Device* device) {
    static int target = 0;
    *device = reinterpret_cast<Device>(&target);
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetEncoderUtilization = [](Device, std::uint32_t* percent, std::uint32_t* period_us) {
    *percent = 5;
    *period_us = 1;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetDecoderUtilization = functions.nvmlDeviceGetEncoderUtilization;
  functions.nvmlDeviceGetTotalEnergyConsumption = [](Device, std::uint64_t* mj) {
    *mj = 123'456;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetPcieReplayCounter = [](Device, std::uint32_t* count) {
    *count = 2;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetPcieThroughput = [](Device, std::uint32_t direction, std::uint32_t* kib) {
    *kib = direction == nvml_abi::kPcieSent ? 10 : 20;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetFieldValues = [](Device, std::int32_t count, nvml_abi::FieldValue* fields) {
    for (std::int32_t index = 0; index < count; ++index) {
      EXPECT_EQ(fields[index].scope_id, nvml_abi::kScopeAllLinks);
      fields[index].code = Code::kSuccess;
      fields[index].value.unsigned_long_long = gpm_driver.nvlink_kib;
    }
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetGridLicensableFeatures_v4 = [](Device, nvml_abi::LicensableFeatures* found) {
    found->is_supported = 1;
    found->count = 2;
    found->features[0].feature = 3;
    found->features[1].feature = nvml_abi::kLicenceOfVgpu;
    found->features[1].is_licensed = gpm_driver.is_licensed ? 1 : 0;
    return Code::kSuccess;
  };
  functions.nvmlDeviceGetRemappedRows = [](Device, std::uint32_t* corrected, std::uint32_t* uncorrected,
                                           std::uint32_t* is_pending, std::uint32_t* has_failed) {
    *corrected = 1;
    *uncorrected = 4;
    *is_pending = 0;
    *has_failed = 1;
    return Code::kSuccess;
  };
  functions.nvmlGpmQueryDeviceSupport = [](Device, nvml_abi::GpmSupport* support) {
    support->is_supported = gpm_driver.is_supported ? 1 : 0;
    return Code::kSuccess;
  };
  functions.nvmlGpmSampleAlloc = [](GpmSample* sample) {
    static std::array<int, 64> places{};
    *sample = reinterpret_cast<GpmSample>(&places.at(gpm_driver.allocations++));
    ++gpm_driver.buffers;
    return Code::kSuccess;
  };
  functions.nvmlGpmSampleFree = [](GpmSample) {
    --gpm_driver.buffers;
    return Code::kSuccess;
  };
  functions.nvmlGpmSampleGet = [](Device, GpmSample) {
    ++gpm_driver.samples;
    return Code::kSuccess;
  };
  functions.nvmlGpmMigSampleGet = [](Device, std::uint32_t id, GpmSample) {
    ++gpm_driver.samples;
    return id == 9 ? Code::kNotFound : Code::kSuccess;
  };
  functions.nvmlGpmMetricsGet = [](nvml_abi::GpmMetrics* metrics) {
    ++gpm_driver.metric_questions;
    EXPECT_NE(metrics->first, metrics->second);
    for (std::uint32_t index = 0; index < metrics->count; ++index) {
      metrics->metrics[index].code = gpm_driver.code;
      const bool is_pcie = metrics->metrics[index].id >= nvml_abi::kGpmPcieSent;
      metrics->metrics[index].value = is_pcie ? gpm_driver.pcie_mib : gpm_driver.percent;
    }
    return Code::kSuccess;
  };
  return functions;
}

GpuInstanceSeen seen_instance(std::uint32_t id) { return {.id = id, .compute_instances = {{.uuid = "MIG-1"}}}; }

TEST(GpuFiguresOfNvml, HasEveryFigureThatTheDriverGives) {
  const Functions functions = monitored_driver();
  ActivityMeter meter(functions);
  const GpuFigures figures = read_figures(functions, nullptr, {seen_instance(2)}, meter).value();
  EXPECT_EQ(figures, (GpuFigures{.index = 3,
                                 .memory = {.free_mib = 45, .used_mib = 45, .reserved_mib = 10},
                                 .encoder_percent = 5,
                                 .decoder_percent = 5,
                                 .energy_millijoules = 123'456,
                                 .pcie_replays = 2,
                                 .is_vgpu_licensed = true,
                                 .correctable_remapped_rows = 1,
                                 .uncorrectable_remapped_rows = 4,
                                 .has_row_remap_failed = true,
                                 .instances = {{.id = 2, .memory = {15, 15, 10}}}}));
}

TEST(GpuFiguresOfNvml, BlankFiguresAreAbsent) {
  Functions blank = monitored_driver();
  blank.nvmlDeviceGetMemoryInfo_v2 = [](Device, nvml_abi::MemoryV2* memory) {
    memory->free_bytes = memory->used_bytes = memory->reserved_bytes = nvml_abi::kValueNotAvailable;
    return Code::kSuccess;
  };
  blank.nvmlDeviceGetTotalEnergyConsumption = [](Device, std::uint64_t* mj) {
    *mj = nvml_abi::kValueNotAvailable;
    return Code::kSuccess;
  };
  blank.nvmlDeviceGetPcieReplayCounter = [](Device, std::uint32_t* count) {
    *count = 0xFFFF'FFFF;
    return Code::kSuccess;
  };
  blank.nvmlDeviceGetEncoderUtilization = [](Device, std::uint32_t*, std::uint32_t*) { return Code::kNotSupported; };
  blank.nvmlDeviceGetDecoderUtilization = nullptr;
  blank.nvmlDeviceGetRemappedRows = nullptr;
  blank.nvmlDeviceGetPcieThroughput = nullptr;
  blank.nvmlDeviceGetFieldValues = nullptr;
  blank.nvmlDeviceGetGridLicensableFeatures_v4 = nullptr;
  ActivityMeter meter(blank);
  EXPECT_EQ(read_figures(blank, nullptr, {}, meter).value(), GpuFigures{.index = 3});
  const Functions none;
  ActivityMeter idle(none);
  EXPECT_EQ(read_figures(none, nullptr, {}, idle).value(), GpuFigures());
}

TEST(GpuFiguresOfNvml, ALostGpuIsAFailure) {
  Functions lost = monitored_driver();
  lost.nvmlDeviceGetTotalEnergyConsumption = [](Device, std::uint64_t*) { return Code::kGpuIsLost; };
  ActivityMeter meter(lost);
  EXPECT_EQ(failure_of(read_figures(lost, nullptr, {}, meter)).call, "nvmlDeviceGetTotalEnergyConsumption");
  EXPECT_EQ(gpm_driver.samples, 0);
}

TEST(GpuFiguresOfNvml, WithoutGpmTheBusIsAskedItself) {
  Functions functions = monitored_driver();
  gpm_driver.is_supported = false;
  gpm_driver.is_licensed = false;
  ActivityMeter meter(functions);
  const GpuFigures figures = read_figures(functions, nullptr, {}, meter).value();
  EXPECT_EQ(figures.pcie_sent_bytes, 10 * 1024);
  EXPECT_EQ(figures.pcie_received_bytes, 20 * 1024);
  EXPECT_EQ(figures.is_vgpu_licensed, false);
  functions.nvmlDeviceGetPcieThroughput = [](Device, std::uint32_t, std::uint32_t*) { return Code::kGpuIsLost; };
  EXPECT_EQ(failure_of(read_figures(functions, nullptr, {}, meter)).call, "nvmlDeviceGetPcieThroughput");
}

TEST(TrafficOfNvml, OfTheBusIsThatOfTheActivity) {
  const Functions functions = monitored_driver();
  ActivityMeter meter(functions);
  ActivityMeter::Clock::time_point now;
  static_cast<void>(meter.measure(nullptr, now));
  EXPECT_EQ(meter.pcie(), PcieTraffic());
  const auto next = [&](double mib) {
    gpm_driver.pcie_mib = mib;
    static_cast<void>(meter.measure(nullptr, now += std::chrono::seconds(1)));
    return meter.pcie().received;
  };
  EXPECT_EQ(next(3), 3 * 1'048'576.0);
  for (const double blank : {9.22e18, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(next(blank), std::nullopt) << blank;
  }
}

TEST(TrafficOfNvml, OfTheLinksIsARateBetweenTwoQuestions) {
  const Functions functions = monitored_driver();
  ActivityMeter meter(functions);
  const ActivityMeter::Clock::time_point begin;
  EXPECT_EQ(meter.nvlink_rate(1'000'000, begin), std::nullopt);
  EXPECT_EQ(meter.nvlink_rate(3'000'000, begin + std::chrono::seconds(2)), 1024.0);
  EXPECT_EQ(meter.nvlink_rate(9'000'000, begin + std::chrono::milliseconds(2'050)), 1024.0) << "repeated";
  EXPECT_EQ(meter.nvlink_rate(10, begin + std::chrono::seconds(3)), std::nullopt) << "the driver began anew";
  EXPECT_EQ(meter.nvlink_rate(10, begin + std::chrono::seconds(4)), 0.0);
}

TEST(TrafficOfNvml, OfTheLinksIsAbsentWhereTheDriverHasNone) {
  Functions functions = monitored_driver();
  functions.nvmlDeviceGetFieldValues = [](Device, std::int32_t, nvml_abi::FieldValue* fields) {
    fields[0].code = Code::kNotSupported;
    return Code::kSuccess;
  };
  ActivityMeter meter(functions);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read_figures(functions, nullptr, {}, meter).value().nvlink_megabytes, std::nullopt);
  }
}

TEST(ActivityOfNvml, IsKnownFromTheSecondSampleOn) {
  const Functions functions = monitored_driver();
  ActivityMeter meter(functions);
  const ActivityMeter::Clock::time_point begin;
  const GpuActivity half{.graphics = 0.5, .tensor = 0.5, .dram = 0.5};
  EXPECT_EQ(meter.measure(nullptr, begin), GpuActivity());
  EXPECT_EQ(meter.measure(nullptr, begin + std::chrono::milliseconds(99)), GpuActivity()) << "too early";
  EXPECT_EQ(meter.measure(nullptr, begin + std::chrono::milliseconds(100)), half);
  gpm_driver.percent = 20;
  EXPECT_EQ(meter.measure(nullptr, begin + std::chrono::milliseconds(150)), half) << "repeated";
  EXPECT_EQ(meter.measure(nullptr, begin + std::chrono::seconds(1)).tensor, 0.2);
  EXPECT_EQ(gpm_driver.samples, 3);
  EXPECT_EQ(gpm_driver.buffers, 2);
}

TEST(ActivityOfNvml, BlankMetricsAreAbsent) {
  const Functions functions = monitored_driver();
  ActivityMeter meter(functions);
  ActivityMeter::Clock::time_point now;
  static_cast<void>(meter.measure(nullptr, now));
  const auto next = [&](double percent) {
    gpm_driver.percent = percent;
    return meter.measure(nullptr, now += std::chrono::seconds(1)).dram;
  };
  for (const double blank : {9.22e18, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(next(blank), std::nullopt) << blank;
  }
  EXPECT_EQ(next(100.000001), 1.0);
  gpm_driver.code = Code::kNotSupported;
  EXPECT_EQ(next(50), std::nullopt);
}

TEST(ActivityOfNvml, ForgetsInstancesThatAreGone) {
  const Functions functions = monitored_driver();
  {
    ActivityMeter meter(functions);
    const ActivityMeter::Clock::time_point begin;
    const auto later = begin + std::chrono::seconds(1);
    static_cast<void>(meter.measure(nullptr, 2, begin));
    meter.keep_only({});
    EXPECT_EQ(gpm_driver.buffers, 0);
    EXPECT_EQ(meter.measure(nullptr, 2, later), GpuActivity()) << "another instance with its id";
    EXPECT_EQ(meter.measure(nullptr, 9, later), GpuActivity()) << "gone before it was asked for";
    EXPECT_EQ(gpm_driver.buffers, 2);
  }
  EXPECT_EQ(gpm_driver.buffers, 0);
}

TEST(ActivityOfNvml, IsNotAskedForWhereThereIsNone) {
  Functions functions = monitored_driver();
  gpm_driver.is_supported = false;
  ActivityMeter meter(functions);
  EXPECT_EQ(meter.measure(nullptr, {}), GpuActivity());
  functions.nvmlGpmMigSampleGet = nullptr;
  gpm_driver.is_supported = true;
  ActivityMeter old(functions);
  EXPECT_EQ(old.measure(nullptr, {}), GpuActivity());
  EXPECT_EQ(gpm_driver.samples, 0);
  EXPECT_EQ(gpm_driver.buffers, 0);
}

}  // namespace
}  // namespace berth::edges::detail
