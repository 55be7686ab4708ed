/// Injected faults: failures of the next calls on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

/// The effect of a fault on a call.
struct FaultHit {
  std::optional<nvml_abi::Code> error;  ///< nothing: the call is only slow
  bool is_done = false;                 ///< the call is carried out before it reports the error
  std::int64_t delay_ms = 0;
};

/// Whether a fault's name matches a call: its C name with or without the version suffix ("nvmlDeviceGetMemoryInfo"
/// matches _v2, too), or the name of its latency ("create_gpu_instance": with and without a placement). A call without
/// a latency does not concern a GPU.
[[nodiscard]] bool means_call(std::string_view fault_name, std::string_view call, std::optional<Latency> latency);

/// Whether `take_fault` would find a fault for this call, or `due_xid` an XID. Nothing changes.
[[nodiscard]] bool meets_fault(const GpuRecord& gpu, std::string_view call, std::optional<Latency> latency,
                               std::int64_t now_us);
/// The first fault that matches this call. It counts down: the first `after` calls pass, the next `times` are hit.
[[nodiscard]] std::optional<FaultHit> take_fault(GpuRecord& gpu, std::string_view call, std::optional<Latency> latency);

/// Adds a fault. False: the GPU has kFaultsMax already.
[[nodiscard]] bool add_fault(GpuRecord& gpu, const FaultRecord& fault);
/// Clears all faults. A call that one of them delays continues.
void clear_faults(GpuRecord& gpu);
[[nodiscard]] bool has_faults(const GpuRecord& gpu);

/// The GPU falls off the bus: every call on it is kGpuIsLost until a reset.
void lose(GpuRecord& gpu);

/// An XID happens now: its events are posted, memory errors are counted (48, 63, 64, 92), the recovery action becomes
/// the driver's for this XID if we know it, and 79 loses the GPU.
void raise_xid(MachineRecord& machine, std::uint32_t gpu, std::int32_t xid, std::uint32_t gpu_instance = kNoInstance);

/// The next XID of the repeated ones that is due by `now_us`, if any.
[[nodiscard]] std::optional<std::int32_t> due_xid(GpuRecord& gpu, std::int64_t now_us);
/// When the next repeated XID of a GPU is due; nothing if none is.
[[nodiscard]] std::optional<std::int64_t> next_xid_us(const GpuRecord& gpu);

/// The keys of `latency_ms`: "init", "read", "set_mig_mode", "create_gpu_instance" ...
[[nodiscard]] std::string_view name_of(Latency latency);
[[nodiscard]] std::optional<Latency> find_latency(std::string_view name);

}  // namespace berth::nvml_sim
