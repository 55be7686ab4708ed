/// MIG mode: whether a GPU is partitioned, now and after its next reset.
#pragma once

#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim {

struct MigMode {
  bool is_on = false;
  bool is_pending_on = false;
};
/// kNotSupported: a model without MIG.
[[nodiscard]] Answer<MigMode> mig_mode(const GpuRecord& gpu);

/// Sets the mode, at once or pending the next reset, and returns the result: kSuccess, kResetRequired (Ampere), kInUse
/// (a process is on the GPU: the mode is pending). kNotSupported: a model without MIG. kNoPermission. kInUse: an
/// instance exists and the mode would change (unverified).
[[nodiscard]] Answer<nvml_abi::Code> set_mig_mode(GpuRecord& gpu, bool is_on, const Caller& caller);

}  // namespace berth::nvml_sim
