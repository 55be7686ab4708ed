#include "gpu/nvml_sim/faults.h"

#include <algorithm>
#include <array>

#include "gpu/nvml_abi/constants.h"

namespace berth::nvml_sim {
namespace {

constexpr std::array<std::string_view, kLatencies> kLatencyNames = {
    "init",
    "read",
    "set_mig_mode",
    "create_gpu_instance",
    "destroy_gpu_instance",
    "create_compute_instance",
    "destroy_compute_instance",
};

/// "nvmlDeviceGetMemoryInfo" of "nvmlDeviceGetMemoryInfo_v2".
std::string_view without_version(std::string_view name) {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || mark + 2 == name.size()) return name;
  const std::string_view digits = name.substr(mark + 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, mark) : name;
}

// Source of these: NVIDIA's XID catalogue.
constexpr std::int32_t kDoubleBitError = 48;
constexpr std::int32_t kRowRemapped = 63;
constexpr std::int32_t kRowRemappingFailed = 64;
constexpr std::int32_t kFellOffTheBus = 79;
constexpr std::int32_t kSingleBitErrors = 92;

/// The recovery action that the driver requests after an XID. Source: NVIDIA's XID catalogue; an XID missing here
/// requests none.
std::uint32_t recovery_after(std::int32_t xid) {
  constexpr std::array<std::int32_t, 6> kWantReset = {kDoubleBitError, 62, kRowRemappingFailed, 74, 95, 119};
  if (xid == kFellOffTheBus) return nvml_abi::kRecoveryActionNodeReboot;
  return std::ranges::find(kWantReset, xid) != kWantReset.end() ? nvml_abi::kRecoveryActionGpuReset
                                                                : nvml_abi::kRecoveryActionNone;
}

}  // namespace

std::string_view name_of(Latency latency) { return kLatencyNames[static_cast<std::size_t>(latency)]; }

std::optional<Latency> find_latency(std::string_view name) {
  const auto* const found = std::ranges::find(kLatencyNames, name);
  if (found == kLatencyNames.end()) return std::nullopt;
  return static_cast<Latency>(found - kLatencyNames.begin());
}

bool means_call(std::string_view fault_name, std::string_view call, std::optional<Latency> latency) {
  if (fault_name == call || fault_name == without_version(call)) return true;
  return latency && fault_name == name_of(*latency);
}

bool meets_fault(const GpuRecord& gpu, std::string_view call, std::optional<Latency> latency, std::int64_t now_us) {
  if (!has_faults(gpu)) return false;
  return std::ranges::any_of(gpu.faults, [&](const FaultRecord& fault) {
    switch (fault.kind) {
      case FaultRecord::kAnswer:
        return means_call(fault.call, call, latency);
      case FaultRecord::kXid:
        return fault.since_us <= now_us;
      default:
        return false;
    }
  });
}

namespace {

void remove_fault(GpuRecord& gpu, FaultRecord& fault) {
  fault = FaultRecord{};
  --gpu.fault_count;
}

}  // namespace

std::optional<FaultHit> take_fault(GpuRecord& gpu, std::string_view call, std::optional<Latency> latency) {
  for (FaultRecord& fault : gpu.faults) {
    if (fault.kind != FaultRecord::kAnswer || !means_call(fault.call, call, latency)) continue;
    if (fault.after > 0) {
      --fault.after;
      continue;
    }
    FaultHit hit{.error = {}, .is_done = fault.is_done != 0, .delay_ms = fault.delay_ms};
    if (fault.error != 0) hit.error = static_cast<nvml_abi::Code>(fault.error);
    if (--fault.times <= 0) remove_fault(gpu, fault);
    return hit;
  }
  return std::nullopt;
}

bool add_fault(GpuRecord& gpu, const FaultRecord& fault) {
  auto* const place =
      std::ranges::find_if(gpu.faults, [](const FaultRecord& other) { return other.kind == FaultRecord::kNone; });
  if (place == std::end(gpu.faults)) return false;
  *place = fault;
  ++gpu.fault_count;
  return true;
}

void clear_faults(GpuRecord& gpu) {
  std::ranges::fill(gpu.faults, FaultRecord{});
  gpu.fault_count = 0;
  ++gpu.fault_clears;
}

bool has_faults(const GpuRecord& gpu) { return gpu.fault_count > 0; }

void lose(GpuRecord& gpu) { gpu.is_lost = 1; }

void raise_xid(MachineRecord& machine, std::uint32_t gpu, std::int32_t xid, std::uint32_t gpu_instance) {
  GpuRecord& record = machine.gpus[gpu];
  CountersRecord& counters = record.counters;
  std::uint64_t ecc_event = nvml_abi::kEventNone;
  switch (xid) {
    case kDoubleBitError:
      ++counters.ecc_uncorrected;
      ecc_event = nvml_abi::kEventDoubleBitEcc;
      break;
    case kSingleBitErrors:
      ++counters.ecc_corrected;
      ecc_event = nvml_abi::kEventSingleBitEcc;
      break;
    case kRowRemapped:
      ++counters.remapped_uncorrected;
      counters.is_remapping_pending = 1;
      break;
    case kRowRemappingFailed:
      counters.has_remapping_failed = 1;
      break;
    case kFellOffTheBus:
      lose(record);
      break;
    default:
      break;
  }
  record.recovery_action = std::max(record.recovery_action, recovery_after(xid));
  post(machine.events, {.type = nvml_abi::kEventXid,
                        .number = static_cast<std::uint64_t>(xid),
                        .gpu = gpu,
                        .gpu_instance = gpu_instance});
  if (ecc_event != nvml_abi::kEventNone) post(machine.events, {.type = ecc_event, .gpu = gpu});
}

std::optional<std::int32_t> due_xid(GpuRecord& gpu, std::int64_t now_us) {
  if (!has_faults(gpu)) return std::nullopt;
  for (FaultRecord& fault : gpu.faults) {
    if (fault.kind != FaultRecord::kXid || fault.since_us > now_us) continue;
    const std::int32_t xid = fault.error;
    fault.since_us += fault.interval_us;
    if (--fault.times <= 0) remove_fault(gpu, fault);
    return xid;
  }
  return std::nullopt;
}

std::optional<std::int64_t> next_xid_us(const GpuRecord& gpu) {
  std::optional<std::int64_t> next;
  if (!has_faults(gpu)) return next;
  for (const FaultRecord& fault : gpu.faults) {
    if (fault.kind != FaultRecord::kXid) continue;
    next = std::min(next.value_or(fault.since_us), fault.since_us);
  }
  return next;
}

}  // namespace berth::nvml_sim
