#include "gpu/nvml/detail/gpu_measurement.h"

#include <string_view>

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml/detail/device_questions.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

/// Asks a device for its figures.
class Meter {
 public:
  Meter(const Functions& functions, Device device) : functions_(functions), questions_(device) {}

  GpuAnswer<GpuMeasurement> measure();

 private:
  template <class Function, class... Arguments>
  bool has_answered(std::string_view name, Function function, Arguments... arguments) {
    return questions_.has_answered(name, function, arguments...);
  }
  void measure_memory();
  void measure_utilization();
  void measure_temperatures();
  void measure_power();
  [[nodiscard]] std::optional<int> clock(std::uint32_t kind);

  const Functions& functions_;
  DeviceQuestions questions_;
  GpuMeasurement figures_;
};

void Meter::measure_memory() {
  nvml_abi::MemoryV2 split;
  split.version = nvml_abi::version_of<nvml_abi::MemoryV2>(2);
  if (has_answered("nvmlDeviceGetMemoryInfo_v2", functions_.nvmlDeviceGetMemoryInfo_v2, &split)) {
    figures_.memory_total_mib = mib_if_known(split.total_bytes);
    figures_.memory_used_mib = mib_if_known(split.used_bytes);
    return;
  }
  nvml_abi::MemoryV1 memory;
  if (!has_answered("nvmlDeviceGetMemoryInfo", functions_.nvmlDeviceGetMemoryInfo, &memory)) return;
  figures_.memory_total_mib = mib_if_known(memory.total_bytes);
  figures_.memory_used_mib = mib_if_known(memory.used_bytes);
}

void Meter::measure_utilization() {
  nvml_abi::Utilization utilization;
  if (!has_answered("nvmlDeviceGetUtilizationRates", functions_.nvmlDeviceGetUtilizationRates, &utilization)) return;
  figures_.utilization_percent = figure_of(utilization.gpu_percent);
  figures_.memory_utilization_percent = figure_of(utilization.memory_percent);
}

void Meter::measure_temperatures() {
  // Drivers of version 13 call the older function deprecated; it stays where the newer one does not exist.
  nvml_abi::TemperatureV1 temperature;
  temperature.version = nvml_abi::version_of<nvml_abi::TemperatureV1>(1);
  std::uint32_t celsius = 0;
  if (has_answered("nvmlDeviceGetTemperatureV", functions_.nvmlDeviceGetTemperatureV, &temperature)) {
    figures_.temperature_celsius = temperature.celsius;
  } else if (has_answered("nvmlDeviceGetTemperature", functions_.nvmlDeviceGetTemperature, nvml_abi::kTemperatureGpu,
                          &celsius)) {
    figures_.temperature_celsius = figure_of(celsius);
  }
  nvml_abi::FieldValue field;
  field.field_id = nvml_abi::kFieldMemoryTemperature;
  if (!has_answered("nvmlDeviceGetFieldValues", functions_.nvmlDeviceGetFieldValues, 1, &field)) return;
  if (field.code == Code::kSuccess) figures_.memory_temperature_celsius = figure_of(field.value.unsigned_int);
}

void Meter::measure_power() {
  std::uint32_t milliwatts = 0;
  if (has_answered("nvmlDeviceGetPowerUsage", functions_.nvmlDeviceGetPowerUsage, &milliwatts)) {
    figures_.power_milliwatts = figure_of(milliwatts);
  }
  if (has_answered("nvmlDeviceGetEnforcedPowerLimit", functions_.nvmlDeviceGetEnforcedPowerLimit, &milliwatts)) {
    figures_.power_limit_milliwatts = figure_of(milliwatts);
  }
}

std::optional<int> Meter::clock(std::uint32_t kind) {
  std::uint32_t mhz = 0;
  if (!has_answered("nvmlDeviceGetClockInfo", functions_.nvmlDeviceGetClockInfo, kind, &mhz)) return std::nullopt;
  return figure_of(mhz);
}

GpuAnswer<GpuMeasurement> Meter::measure() {
  measure_memory();
  measure_utilization();
  measure_temperatures();
  measure_power();
  figures_.sm_clock_mhz = clock(nvml_abi::kClockSm);
  figures_.memory_clock_mhz = clock(nvml_abi::kClockMemory);
  if (!questions_.lost_at().empty()) return failed(questions_.lost_at(), Code::kGpuIsLost);
  return figures_;
}

}  // namespace

GpuAnswer<GpuMeasurement> measure_gpu(const Functions& functions, Device device) {
  return Meter(functions, device).measure();
}

}  // namespace berth::edges::detail
