#include "live/local/health_watch.h"

#include <fmt/format.h>

#include "live/session/observed_gpus.h"
#include "live/session/session.h"

namespace berth::live {

using health::HealthDecision;
using health::HealthOrder;
using health::HealthState;

void HealthWatch::adopt(const Session& session) {
  for (std::uint32_t index = 0; index < gpu_count_; ++index) {
    const GpuState state = session.gpu_state({index});
    if (!state.scheduling_reason.starts_with(kUnhealthy)) continue;
    const bool is_draining = state.scheduling == GpuScheduling::kDraining;
    book_.adopt({index}, is_draining ? HealthState::kDraining : HealthState::kQuarantined, state.scheduling_since);
    reasons_[{index}] = state.scheduling_reason.substr(kUnhealthy.size());
  }
}

void HealthWatch::on_xid(Session& session, const health::XidSeen& seen) {
  if (auto text = bursts_.note(seen.gpu, seen.xid, seen.count, seen.at)) {
    session.on_device_note({.gpu = seen.gpu, .note = DeviceNote::kXid, .text = *std::move(text)});
  }
  carry_out(session, book_.on_xid(seen));
}

void HealthWatch::on_recovery_action(Session& session, GpuId gpu, const std::string& action) {
  carry_out(session, book_.on_recovery_action(gpu, action, session.now()));
}

void HealthWatch::serve(Session& session) {
  const Instant now = session.now();
  for (health::XidBursts::Ended& ended : bursts_.take(now)) {
    session.on_device_note({.gpu = ended.gpu, .note = DeviceNote::kXid, .text = std::move(ended.text)});
  }
  for (const HealthDecision& decision : book_.on_time(now)) carry_out(session, decision);
  if (options_.is_dry_run) return;
  for (std::uint32_t index = 0; index < gpu_count_; ++index) {
    const GpuId gpu{index};
    const HealthState state = book_.state(gpu);
    if (state != HealthState::kDraining && state != HealthState::kQuarantined) continue;
    if (session.gpu_state(gpu).is_open()) {
      carry_out(session, book_.on_uncordoned(gpu, now));
    } else if (state == HealthState::kDraining && session.is_drained(gpu)) {
      carry_out(session, book_.on_drained(gpu, now));
    }
  }
}

void HealthWatch::carry_out(Session& session, const std::optional<HealthDecision>& decision) {
  if (!decision) return;
  std::string text = fmt::format("{} -> {}: {}", word(decision->from), word(decision->to), decision->reason);
  if (decision->order == HealthOrder::kRestartApp) {
    text = fmt::format("restart of the program on {}: {}", decision->slice, decision->reason);
  } else {
    reasons_[decision->gpu] = decision->reason;
  }
  if (const std::string why_not = order(session, *decision); !why_not.empty()) text += "; not done: " + why_not;
  session.on_device_note({.gpu = decision->gpu, .note = DeviceNote::kHealth, .text = std::move(text)});
  if (!decision->has_tripped_breaker) return;
  session.on_device_note(
      {.gpu = decision->gpu,
       .note = DeviceNote::kBreaker,
       .text = fmt::format("no GPU begins to drain until fewer than {} % began within {} s", health::kBreakerPercent,
                           health::kBreakerWindow.count() / kMicrosPerSecond)});
}

std::string HealthWatch::order(Session& session, const HealthDecision& decision) const {
  if (decision.order == HealthOrder::kNone) return {};
  if (options_.is_dry_run) return "health.dry_run";
  if (decision.order == HealthOrder::kRestartApp) {
    return restart_ ? restart_(decision.slice) : "no program of this engine runs there";
  }
  const GpuState state = session.gpu_state(decision.gpu);
  if (is_observed(state)) return "the GPU is only observed";
  const bool is_ours = state.scheduling_reason.starts_with(kUnhealthy);
  if (state.scheduling != GpuScheduling::kOpen && !is_ours) return "the GPU is cordoned: " + state.scheduling_reason;
  const auto scheduling = decision.order == HealthOrder::kDrain ? GpuScheduling::kDraining : GpuScheduling::kCordoned;
  const bool is_recorded = session.schedule(decision.gpu, scheduling, std::string(kUnhealthy) + decision.reason);
  return is_recorded ? "" : session.why_not_recorded();
}

HealthView HealthWatch::view(GpuId gpu) const {
  HealthView view{.state = book_.state(gpu)};
  if (const auto found = reasons_.find(gpu); found != reasons_.end()) view.reason = found->second;
  return view;
}

}  // namespace berth::live
