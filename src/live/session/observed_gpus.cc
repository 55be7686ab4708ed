#include "live/session/observed_gpus.h"

namespace berth::live {

std::optional<GpuScheduled> order_to_observe(GpuId gpu, const GpuState& state, const std::optional<std::string>& why) {
  if (!why) {
    if (!is_observed(state)) return std::nullopt;
    return GpuScheduled{.gpu = gpu, .scheduling = GpuScheduling::kOpen, .reason = {}};
  }
  std::string reason = std::string(kObserved) + *why;
  const bool is_open = state.scheduling == GpuScheduling::kOpen;
  if (!is_open && (!is_observed(state) || state.scheduling_reason == reason)) return std::nullopt;
  return GpuScheduled{.gpu = gpu, .scheduling = GpuScheduling::kCordoned, .reason = std::move(reason)};
}

}  // namespace berth::live
