// The state of a device: memory, load, temperature, power, clocks, errors.
#include <chrono>

#include "domain/mig/board.h"
#include "gpu/nvml_sim/telemetry.h"
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::kTakesDevice;
using edges::library;
using edges::Subject;
using nvml_sim::GpuRecord;
using nvml_sim::MemoryUse;

namespace {

MemoryUse memory_of(const Subject& subject) {
  return is_mig(subject) ? nvml_sim::memory_of(subject.gpu, mig_device_of(subject)) : nvml_sim::memory_of(subject.gpu);
}

bool has_row_remapping(const GpuRecord& gpu) {
  return mig::board_of(nvml_sim::model_of(gpu)).architecture >= mig::Architecture::kAmpere;
}

std::int64_t micros_since_1970() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count();
}

/// A query about a whole GPU; MIG devices have no temperature, power or clock of their own.
template <class Out, class Answering>
Code ask_gpu(const char* name, Device device, Out* out, Answering answer) {
  const Call call{.name = name, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(out)};
  return library().ask(call,
                       [&](const Subject& subject) { return is_mig(subject) ? Code::kNotSupported : answer(subject); });
}

/// A figure of the telemetry.
template <class Out>
Code write_telemetry(const char* name, Device device, Out* out, std::uint32_t nvml_sim::Telemetry::* figure) {
  return ask_gpu(name, device, out,
                 [&](const Subject& subject) { return write(out, nvml_sim::telemetry_of(subject.gpu).*figure); });
}

/// A constant, the same for every GPU.
template <class Out>
Code write_constant(const char* name, Device device, Out* out, std::uint32_t value) {
  return ask_gpu(name, device, out, [&](const Subject&) { return write(out, value); });
}

/// The utilisation of an engine that nothing uses. NVML reports none for a partitioned GPU.
Code write_idle_engine(const char* name, Device device, std::uint32_t* percent, std::uint32_t* period_us) {
  constexpr std::uint32_t kPeriodMicros = 166'666;
  const Call call{
      .name = name, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(percent, period_us)};
  return library().ask(call, [&](const Subject& subject) {
    if (is_mig(subject) || subject.gpu.is_mig_on != 0) return Code::kNotSupported;
    *period_us = kPeriodMicros;
    return write(percent, 0);
  });
}

Code write_power_limit(const char* name, Device device, std::uint32_t* mw) {
  return ask_gpu(name, device, mw,
                 [&](const Subject& subject) { return write(mw, nvml_sim::limits_of(subject.gpu).power_mw); });
}

Code write_clock(const char* name, Device device, std::uint32_t clock, std::uint32_t* mhz, bool is_max) {
  return ask_gpu(name, device, mhz, [&](const Subject& subject) {
    if (clock >= kClockCount) return Code::kInvalidArgument;
    const nvml_sim::Telemetry telemetry = nvml_sim::telemetry_of(subject.gpu);
    const nvml_sim::TelemetryLimits limits = nvml_sim::limits_of(subject.gpu);
    if (clock == kClockMemory) return write(mhz, is_max ? limits.memory_clock_mhz : telemetry.memory_clock_mhz);
    return write(mhz, is_max ? limits.sm_clock_mhz : telemetry.sm_clock_mhz);
  });
}

/// Errors are attributed to the DRAM and counted once: volatile and aggregate counts agree.
Code write_errors(const Subject& subject, std::uint32_t error, std::uint32_t counter, std::uint64_t* count) {
  if (error >= kMemoryErrorCount || counter >= kEccCounterCount) return Code::kInvalidArgument;
  const auto& counters = subject.gpu.counters;
  return write(count, error == kMemoryErrorCorrected ? counters.ecc_corrected : counters.ecc_uncorrected);
}

void write_field(const Subject& subject, FieldValue& field);

}  // namespace

extern "C" {

Code nvmlDeviceGetMemoryInfo(Device device, MemoryV1* memory) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(memory)};
  return library().ask(call, [&](const Subject& subject) {
    const MemoryUse use = memory_of(subject);
    *memory = {.total_bytes = use.total_bytes,
               .free_bytes = use.free_bytes(),
               .used_bytes = use.used_bytes + use.reserved_bytes};
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  const Code arguments = edges::versioned(memory, version_of<MemoryV2>(2), Code::kFunctionNotFound);  // as measured
  return library().ask({.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = arguments},
                       [&](const Subject& subject) {
                         const MemoryUse use = memory_of(subject);
                         *memory = {.version = memory->version,
                                    .total_bytes = use.total_bytes,
                                    .reserved_bytes = use.reserved_bytes,
                                    .free_bytes = use.free_bytes(),
                                    .used_bytes = use.used_bytes};
                         return Code::kSuccess;
                       });
}

Code nvmlDeviceGetBAR1MemoryInfo(Device device, Bar1Memory* memory) {
  const Call call{.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(memory)};
  return library().ask(call, [&](const Subject& subject) {
    constexpr std::uint64_t kUsed = 1'703'936;  // measured on an idle H100
    const std::uint64_t total = memory_of(subject).total_bytes;
    *memory = {.total_bytes = total, .free_bytes = total - kUsed, .used_bytes = kUsed};
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return ask_gpu(__func__, device, utilization, [&](const Subject& subject) {
    if (subject.gpu.is_mig_on != 0) return Code::kNotSupported;  // NVML reports none for a partitioned GPU
    const nvml_sim::Telemetry telemetry = nvml_sim::telemetry_of(subject.gpu);
    *utilization = {.gpu_percent = telemetry.utilization_percent,
                    .memory_percent = telemetry.memory_utilization_percent};
    return Code::kSuccess;
  });
}

// No process uses the media engines.
Code nvmlDeviceGetEncoderUtilization(Device device, std::uint32_t* percent, std::uint32_t* period_us) {
  return write_idle_engine(__func__, device, percent, period_us);
}
Code nvmlDeviceGetDecoderUtilization(Device device, std::uint32_t* percent, std::uint32_t* period_us) {
  return write_idle_engine(__func__, device, percent, period_us);
}

Code nvmlDeviceGetPcieReplayCounter(Device device, std::uint32_t* count) {
  return write_constant(__func__, device, count, 0);
}

Code nvmlDeviceGetPcieThroughput(Device device, std::uint32_t direction, std::uint32_t* kib_per_second) {
  constexpr std::uint32_t kKibPerMib = 1024;
  return ask_gpu(__func__, device, kib_per_second, [&](const Subject& subject) {
    if (direction >= kPcieDirectionCount) return Code::kInvalidArgument;
    const nvml_sim::PcieRates rates = nvml_sim::pcie_rates_with(nvml_sim::activity_of(subject.gpu));
    return write(kib_per_second, (direction == kPcieSent ? rates.sent : rates.received) * kKibPerMib);
  });
}

// The GPU is used as a whole: no virtual GPU is licensed.
Code nvmlDeviceGetGridLicensableFeatures_v4(Device device, LicensableFeatures* features) {
  return ask_gpu(__func__, device, features, [&](const Subject&) {
    features->is_supported = 0;
    return write(&features->count, 0);
  });
}

Code nvmlDeviceGetClockInfo(Device device, std::uint32_t clock, std::uint32_t* mhz) {
  return write_clock(__func__, device, clock, mhz, false);
}
Code nvmlDeviceGetMaxClockInfo(Device device, std::uint32_t clock, std::uint32_t* mhz) {
  return write_clock(__func__, device, clock, mhz, true);
}
Code nvmlDeviceGetClock(Device device, std::uint32_t clock, std::uint32_t clock_id, std::uint32_t* mhz) {
  if (clock_id == kClockIdCurrent) return write_clock(__func__, device, clock, mhz, false);
  return ask_gpu(__func__, device, mhz, [&](const Subject&) {
    return clock >= kClockCount || clock_id >= kClockIdCount ? Code::kInvalidArgument : Code::kNotSupported;
  });
}

Code nvmlDeviceGetTemperature(Device device, std::uint32_t sensor, std::uint32_t* celsius) {
  return ask_gpu(__func__, device, celsius, [&](const Subject& subject) {
    if (sensor != kTemperatureGpu) return Code::kInvalidArgument;
    return write(celsius, nvml_sim::telemetry_of(subject.gpu).temperature_c);
  });
}

Code nvmlDeviceGetTemperatureV(Device device, TemperatureV1* temperature) {
  const Code arguments = edges::versioned(temperature, version_of<TemperatureV1>(1), Code::kArgumentVersionMismatch);
  return library().ask({.name = __func__, .handle = device, .arguments = arguments}, [&](const Subject& subject) {
    if (temperature->sensor != kTemperatureGpu) return Code::kInvalidArgument;
    return write(&temperature->celsius, nvml_sim::telemetry_of(subject.gpu).temperature_c);
  });
}

Code nvmlDeviceGetTemperatureThreshold(Device device, std::uint32_t threshold, std::uint32_t* celsius) {
  return ask_gpu(__func__, device, celsius, [&](const Subject&) {
    if (threshold >= kTemperatureThresholdCount) return Code::kInvalidArgument;
    if (threshold == kTemperatureThresholdShutdown) return write(celsius, nvml_sim::kShutdownTemperatureC);
    if (threshold == kTemperatureThresholdSlowdown) return write(celsius, nvml_sim::kSlowdownTemperatureC);
    return Code::kNotSupported;
  });
}

Code nvmlDeviceGetPowerUsage(Device device, std::uint32_t* mw) {
  return write_telemetry(__func__, device, mw, &nvml_sim::Telemetry::power_mw);
}
Code nvmlDeviceGetPowerManagementMode(Device device, std::uint32_t* is_enabled) {
  return write_constant(__func__, device, is_enabled, kEnabled);
}
Code nvmlDeviceGetPowerManagementLimit(Device device, std::uint32_t* mw) {
  return write_power_limit(__func__, device, mw);
}
Code nvmlDeviceGetPowerManagementDefaultLimit(Device device, std::uint32_t* mw) {
  return write_power_limit(__func__, device, mw);
}
Code nvmlDeviceGetEnforcedPowerLimit(Device device, std::uint32_t* mw) {
  return write_power_limit(__func__, device, mw);
}
Code nvmlDeviceGetPowerManagementLimitConstraints(Device device, std::uint32_t* mw_min, std::uint32_t* mw_max) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(mw_min, mw_max)};
  return library().ask(call, [&](const Subject& subject) {
    const nvml_sim::TelemetryLimits limits = nvml_sim::limits_of(subject.gpu);
    *mw_min = limits.power_min_mw;
    return write(mw_max, limits.power_mw);
  });
}
Code nvmlDeviceGetTotalEnergyConsumption(Device device, std::uint64_t* mj) {
  return ask_gpu(__func__, device, mj, [&](const Subject& subject) {
    return write(mj, nvml_sim::energy_mj(subject.gpu, micros_since_1970()));
  });
}

Code nvmlDeviceGetPerformanceState(Device device, std::uint32_t* state) {
  return write_telemetry(__func__, device, state, &nvml_sim::Telemetry::performance_state);
}
Code nvmlDeviceGetPowerState(Device device, std::uint32_t* state) {
  return write_telemetry(__func__, device, state, &nvml_sim::Telemetry::performance_state);
}
Code nvmlDeviceGetCurrentClocksEventReasons(Device device, std::uint64_t* reasons) {
  return write_constant(__func__, device, reasons, 0);
}
Code nvmlDeviceGetCurrentClocksThrottleReasons(Device device, std::uint64_t* reasons) {
  return write_constant(__func__, device, reasons, 0);
}

Code nvmlDeviceGetPersistenceMode(Device device, std::uint32_t* is_enabled) {
  return write_constant(__func__, device, is_enabled, kEnabled);
}
Code nvmlDeviceGetComputeMode(Device device, std::uint32_t* mode) {
  return write_constant(__func__, device, mode, kComputeDefault);
}
Code nvmlDeviceGetAccountingMode(Device device, std::uint32_t* is_enabled) {
  return write_constant(__func__, device, is_enabled, kDisabled);
}
Code nvmlDeviceGetDisplayMode(Device device, std::uint32_t* is_enabled) {
  return write_constant(__func__, device, is_enabled, kDisabled);
}
Code nvmlDeviceGetDisplayActive(Device device, std::uint32_t* is_active) {
  return write_constant(__func__, device, is_active, kDisabled);
}
Code nvmlDeviceGetVirtualizationMode(Device device, std::uint32_t* mode) {
  return write_constant(__func__, device, mode, kVirtualizationNone);
}
Code nvmlDeviceGetNumFans(Device device, std::uint32_t* count) { return write_constant(__func__, device, count, 0); }

Code nvmlDeviceGetAddressingMode(Device device, AddressingModeV1* mode) {
  const Code arguments = edges::versioned(mode, version_of<AddressingModeV1>(1), Code::kArgumentVersionMismatch);
  return library().ask({.name = __func__, .handle = device, .arguments = arguments},
                       [&](const Subject&) { return write(&mode->mode, 0); });
}

Code nvmlDeviceGetEccMode(Device device, std::uint32_t* current, std::uint32_t* pending) {
  const Call call{
      .name = __func__, .handle = device, .takes = kTakesDevice, .arguments = edges::all_given(current, pending)};
  return library().ask(call, [&](const Subject&) {
    *current = kEnabled;
    return write(pending, kEnabled);
  });
}
Code nvmlDeviceGetDefaultEccMode(Device device, std::uint32_t* is_enabled) {
  return write_constant(__func__, device, is_enabled, kEnabled);
}

Code nvmlDeviceGetTotalEccErrors(Device device, std::uint32_t error, std::uint32_t counter, std::uint64_t* count) {
  return ask_gpu(__func__, device, count,
                 [&](const Subject& subject) { return write_errors(subject, error, counter, count); });
}

Code nvmlDeviceGetMemoryErrorCounter(Device device, std::uint32_t error, std::uint32_t counter, std::uint32_t location,
                                     std::uint64_t* count) {
  return ask_gpu(__func__, device, count, [&](const Subject& subject) {
    if (location >= kMemoryLocationCount) return Code::kInvalidArgument;
    if (location == kMemoryDram) return write_errors(subject, error, counter, count);
    return location == kMemorySram ? write(count, 0) : Code::kNotSupported;
  });
}

Code nvmlDeviceGetRemappedRows(Device device, std::uint32_t* correctable, std::uint32_t* uncorrectable,
                               std::uint32_t* is_pending, std::uint32_t* has_failed) {
  const Call call{.name = __func__,
                  .handle = device,
                  .arguments = edges::all_given(correctable, uncorrectable, is_pending, has_failed)};
  return library().ask(call, [&](const Subject& subject) {
    if (!has_row_remapping(subject.gpu) || nvml_sim::has_instances(subject.gpu)) return Code::kNotSupported;
    const auto& counters = subject.gpu.counters;
    *correctable = counters.remapped_corrected;
    *uncorrectable = counters.remapped_uncorrected;
    *is_pending = counters.is_remapping_pending;
    return write(has_failed, counters.has_remapping_failed);
  });
}

Code nvmlDeviceGetRemappedRows_v2(Device device, RemappedRowsV2* rows) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(rows)};
  return library().ask(call, [&](const Subject& subject) {
    if (!has_row_remapping(subject.gpu) || nvml_sim::has_instances(subject.gpu)) return Code::kNotSupported;
    const auto& counters = subject.gpu.counters;
    *rows = {.correctable_active = counters.remapped_corrected,
             .correctable_inactive = 0,
             .uncorrectable_active = counters.remapped_uncorrected,
             .uncorrectable_inactive = 0,
             .is_pending = counters.is_remapping_pending,
             .has_failed = counters.has_remapping_failed};
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetRowRemapperHistogram(Device device, RowRemapHistogram* histogram) {
  constexpr std::uint32_t kBanks = 640;
  return ask_gpu(__func__, device, histogram, [&](const Subject& subject) {
    if (!has_row_remapping(subject.gpu)) return Code::kNotSupported;
    *histogram = {.max = kBanks, .high = 0, .partial = 0, .low = 0, .none = 0};
    return Code::kSuccess;
  });
}

Code nvmlDeviceGetRetiredPages(Device device, std::uint32_t cause, std::uint32_t* count, std::uint64_t*) {
  return ask_gpu(__func__, device, count, [&](const Subject& subject) {
    if (cause >= kRetiredCauseCount) return Code::kInvalidArgument;
    return has_row_remapping(subject.gpu) ? Code::kNotSupported : write(count, 0);
  });
}
Code nvmlDeviceGetRetiredPages_v2(Device device, std::uint32_t cause, std::uint32_t* count, std::uint64_t* addresses,
                                  std::uint64_t*) {
  return nvmlDeviceGetRetiredPages(device, cause, count, addresses);
}
Code nvmlDeviceGetRetiredPagesPendingStatus(Device device, std::uint32_t* is_pending) {
  return ask_gpu(__func__, device, is_pending, [&](const Subject& subject) {
    return has_row_remapping(subject.gpu) ? Code::kNotSupported : write(is_pending, kDisabled);
  });
}

Code nvmlDeviceGetFieldValues(Device device, std::int32_t count, FieldValue* values) {
  const Code arguments = count < 0 ? Code::kInvalidArgument : edges::all_given(values);
  return library().ask({.name = __func__, .handle = device, .takes = kTakesDevice, .arguments = arguments},
                       [&](const Subject& subject) {
                         for (std::int32_t index = 0; index < count; ++index) write_field(subject, values[index]);
                         return Code::kSuccess;
                       });
}

}  // extern "C"

namespace {

/// The value of a field on a whole GPU, with its type; nothing: it is not simulated.
struct Field {
  std::uint32_t type = kValueUnsignedInt;
  std::uint64_t value = 0;
};
std::optional<Field> field_of(const GpuRecord& gpu, std::uint32_t id) {
  const mig::Board& board = mig::board_of(nvml_sim::model_of(gpu));
  const bool is_mig_capable = nvml_sim::model_of(gpu).is_mig_capable();
  const auto& counters = gpu.counters;
  switch (id) {
    case kFieldEccCurrent:
    case kFieldEccPending:
      return Field{kValueUnsignedLongLong, kEnabled};
    case kFieldEccSingleBitVolatile:
    case kFieldEccSingleBitAggregate:
      return Field{kValueUnsignedLongLong, counters.ecc_corrected};
    case kFieldEccDoubleBitVolatile:
    case kFieldEccDoubleBitAggregate:
      return Field{kValueUnsignedLongLong, counters.ecc_uncorrected};
    case kFieldMemoryTemperature:
      return Field{kValueUnsignedInt, nvml_sim::telemetry_of(gpu).memory_temperature_c};
    case kFieldEnergy:
      return Field{kValueUnsignedLongLong, nvml_sim::energy_mj(gpu, micros_since_1970())};
    case kFieldPowerAverage:
    case kFieldPowerInstant:
      return Field{kValueUnsignedInt, nvml_sim::telemetry_of(gpu).power_mw};
    case kFieldNvLinkSent:
    case kFieldNvLinkReceived:
      // No process uses the links. Models that can be partitioned have some, and in MIG mode none can be used.
      return is_mig_capable && gpu.is_mig_on == 0 ? std::optional(Field{kValueUnsignedLongLong, 0}) : std::nullopt;
    case kFieldRemappedCorrectable:
      return Field{kValueUnsignedInt, counters.remapped_corrected};
    case kFieldRemappedUncorrectable:
      return Field{kValueUnsignedInt, counters.remapped_uncorrected};
    case kFieldRemappedPending:
      return Field{kValueUnsignedInt, counters.is_remapping_pending};
    case kFieldRemappedFailure:
      return Field{kValueUnsignedInt, counters.has_remapping_failed};
    case kFieldIsMigResetless:
      return Field{kValueUnsignedInt, is_mig_capable && !board.needs_reset_for_mode ? 1U : 0U};
    case kFieldIsMigQueryModeIndependent:
      return Field{kValueUnsignedInt, is_mig_capable ? 1U : 0U};
    case kFieldRecoveryAction:
      return Field{kValueUnsignedInt, gpu.recovery_action};
    default:
      return std::nullopt;
  }
}

void write_field(const Subject& subject, FieldValue& field) {
  field.measured_us = micros_since_1970();
  field.latency_us = 0;
  const std::optional<Field> found = is_mig(subject) ? std::nullopt : field_of(subject.gpu, field.field_id);
  if (!found) {
    field.code = field.field_id == 0 || field.field_id >= kFieldCount ? Code::kInvalidArgument : Code::kNotSupported;
    return;
  }
  field.code = Code::kSuccess;
  field.value_type = found->type;
  field.value.unsigned_long_long = found->value;  // little-endian: the narrower members are its low bytes
}

}  // namespace

}  // namespace berth::nvml_abi
