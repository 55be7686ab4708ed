#include "gpu/nvml_sim/mode.h"

#include "domain/mig/board.h"
#include "gpu/nvml_sim/processes.h"

namespace berth::nvml_sim {

using nvml_abi::Code;

Answer<MigMode> mig_mode(const GpuRecord& gpu) {
  if (!model_of(gpu).is_mig_capable()) return refuse(Code::kNotSupported);
  return MigMode{gpu.is_mig_on != 0, gpu.is_mig_pending_on != 0};
}

Answer<Code> set_mig_mode(GpuRecord& gpu, bool is_on, const Caller& caller) {
  const GpuModel& model = model_of(gpu);
  if (!model.is_mig_capable()) return refuse(Code::kNotSupported);
  if (!caller.may_change) return refuse(Code::kNoPermission);
  const bool would_change = is_on != (gpu.is_mig_on != 0);
  if (would_change && has_instances(gpu)) return refuse(Code::kInUse);
  gpu.is_mig_pending_on = is_on ? 1 : 0;
  if (!would_change) return Code::kSuccess;
  if (has_process(gpu)) return Code::kInUse;
  if (mig::board_of(model).needs_reset_for_mode) return Code::kResetRequired;
  gpu.is_mig_on = gpu.is_mig_pending_on;
  return Code::kSuccess;
}

}  // namespace berth::nvml_sim
