// GPU performance monitoring (GPM): samples of a device's activity, and figures from two of them.
#include <chrono>
#include <optional>

#include "gpu/nvml_sim/gpm.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::kTakesDevice;
using edges::library;
using edges::Subject;
using nvml_sim::Answer;
using nvml_sim::GpmReading;
using nvml_sim::MachineRecord;

namespace {

/// A sample's handle is its number, shifted away from small values and odd addresses. It does not point to memory.
constexpr std::uintptr_t kSampleHandles = 0x7E58'0000'0000;
constexpr std::uintptr_t kSampleStep = 16;
GpmSample sample_handle(std::uint64_t sample) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): see above
  return reinterpret_cast<GpmSample>(kSampleHandles + sample * kSampleStep);
}
std::uint64_t number_of(GpmSample sample) {
  const auto address = reinterpret_cast<std::uintptr_t>(sample);
  return address > kSampleHandles && address % kSampleStep == 0 ? (address - kSampleHandles) / kSampleStep : 0;
}

Code check_sample(GpmSample sample) {
  return library().gpm_samples().has(number_of(sample)) ? Code::kSuccess : Code::kInvalidArgument;
}

std::int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Code take_sample(const Subject& subject, std::optional<std::uint32_t> gpu_instance, GpmSample sample) {
  const Answer<GpmReading> reading = nvml_sim::read_gpm(subject.gpu, gpu_instance, steady_us());
  if (!reading) return reading.error();
  return library().gpm_samples().put(number_of(sample), *reading) ? Code::kSuccess : Code::kInvalidArgument;
}

void answer_metric(const GpmReading& first, const GpmReading& second, GpmMetric& metric) {
  const Answer<double> value = nvml_sim::gpm_metric(first, second, metric.id);
  metric.code = value ? Code::kSuccess : value.error();
  metric.value = value.value_or(0);
  metric.info = {};
}

}  // namespace

extern "C" {

Code nvmlGpmSampleAlloc(GpmSample* sample) {
  return library().describe(__func__, edges::all_given(sample), [&](const MachineRecord&) {
    const auto number = library().gpm_samples().allocate();
    if (!number) return Code::kMemory;
    return write(sample, sample_handle(*number));
  });
}

Code nvmlGpmSampleFree(GpmSample sample) {
  return library().describe(__func__, Code::kSuccess, [&](const MachineRecord&) {
    return library().gpm_samples().free(number_of(sample)) ? Code::kSuccess : Code::kInvalidArgument;
  });
}

Code nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  const Code arguments = edges::versioned(support, kGpmSupportVersion, Code::kArgumentVersionMismatch);
  return library().ask({.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = arguments},
                       [&](const Subject& subject) {
                         return write(&support->is_supported, nvml_sim::has_gpm(subject.gpu) ? kEnabled : kDisabled);
                       });
}

Code nvmlGpmSampleGet(Device device, GpmSample sample) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = check_sample(sample)};
  return library().ask(call, [&](const Subject& subject) {
    if (!is_mig(subject)) return take_sample(subject, std::nullopt, sample);
    return take_sample(subject, static_cast<std::uint32_t>(subject.target.gpu_instance), sample);
  });
}

Code nvmlGpmMigSampleGet(Device device, std::uint32_t gpu_instance_id, GpmSample sample) {
  const Call call{.name = __func__, .handle = device, .arguments = check_sample(sample)};
  return library().ask(call, [&](const Subject& subject) { return take_sample(subject, gpu_instance_id, sample); });
}

Code nvmlGpmMetricsGet(GpmMetrics* metrics) {
  Code arguments = edges::versioned(metrics, kGpmMetricsVersion, Code::kArgumentVersionMismatch);
  if (arguments == Code::kSuccess && metrics->count > kGpmMetricCount) arguments = Code::kInvalidArgument;
  return library().describe(__func__, arguments, [&](const MachineRecord&) {
    const auto first = library().gpm_samples().get(number_of(metrics->first));
    const auto second = library().gpm_samples().get(number_of(metrics->second));
    if (!first || !second) return Code::kInvalidArgument;
    GpmMetric* const asked = metrics->metrics;  // newer callers have space for more than we declare
    for (std::uint32_t index = 0; index < metrics->count; ++index) answer_metric(*first, *second, asked[index]);
    return Code::kSuccess;
  });
}

}  // extern "C"

}  // namespace berth::nvml_abi
