#include "gpu/health/gpu_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace berth::health {
namespace {

std::string evidence_of(const XidSeen& seen, const XidRule& rule) {
  std::string text = fmt::format("XID {}", seen.xid);
  if (seen.count > 1) text += fmt::format(", {} times", seen.count);
  if (!rule.meaning.empty()) text += fmt::format(" ({})", rule.meaning);
  if (!seen.slice.empty()) text += fmt::format(" on {}", seen.slice);
  return text;
}

std::string rule_of(const XidPolicy& policy, const XidRule& rule) {
  if (!rule.is_listed) return fmt::format("unknown to the policy of {}: watch", policy.as_of);
  return fmt::format("policy of {}: {}", policy.as_of, word(rule.action));
}

}  // namespace

std::string_view word(HealthState state) {
  constexpr std::array<std::string_view, 4> kWords = {"ok", "suspect", "draining", "quarantined"};
  return kWords[static_cast<std::size_t>(state)];
}

std::optional<HealthDecision> HealthBook::on_xid(const XidSeen& seen) {
  const XidRule rule = policy_->rule_for(seen.xid);
  std::string reason = evidence_of(seen, rule);
  const XidAction asked = action_of_recovery(seen.recovery_action);
  if (asked != XidAction::kIgnore) {
    return act(seen.gpu, asked, fmt::format("{}; the driver asks for {}", reason, seen.recovery_action), seen.at);
  }
  reason += "; " + rule_of(*policy_, rule);
  if (rule.action == XidAction::kRestartApp && !seen.slice.empty()) return restart(seen, std::move(reason));
  return act(seen.gpu, rule.action, std::move(reason), seen.at);
}

std::optional<HealthDecision> HealthBook::on_recovery_action(GpuId gpu, std::string_view action, Instant now) {
  return act(gpu, action_of_recovery(action), fmt::format("the driver asks for {}", action), now);
}

std::optional<HealthDecision> HealthBook::act(GpuId gpu, XidAction action, std::string reason, Instant now) {
  switch (action) {
    case XidAction::kIgnore:
      return std::nullopt;
    case XidAction::kWatch:
    case XidAction::kRestartApp:  // no slice is named
      return watch(gpu, std::move(reason), now);
    case XidAction::kDrain:
      return drain(gpu, std::move(reason), now);
    case XidAction::kManual:
      return quarantine(gpu, std::move(reason));
  }
  return std::nullopt;
}

std::optional<HealthDecision> HealthBook::watch(GpuId gpu, std::string reason, Instant now) {
  Gpu& known = gpus_[gpu];
  if (known.state != HealthState::kOk && known.state != HealthState::kSuspect) return std::nullopt;
  known.watched_at = now;
  if (known.state == HealthState::kSuspect) return std::nullopt;
  return move(gpu, HealthState::kSuspect, HealthOrder::kNone, std::move(reason));
}

std::optional<HealthDecision> HealthBook::drain(GpuId gpu, std::string reason, Instant now) {
  Gpu& known = gpus_[gpu];
  if (known.state == HealthState::kDraining) return std::nullopt;
  if (known.state == HealthState::kQuarantined && !known.has_stayed) return std::nullopt;
  forget_drains(now);
  if (drains_left(now) > 0) {
    drains_.push_back(now);
    known.has_stayed = false;
    return move(gpu, HealthState::kDraining, HealthOrder::kDrain, std::move(reason));
  }
  const bool is_first = !tripped_at_ || *tripped_at_ + kBreakerWindow <= now;
  reason += fmt::format("; cordoned only, as {} GPUs began to drain within {} s", drains_.size(),
                        kBreakerWindow.count() / kMicrosPerSecond);
  auto decision = quarantine(gpu, std::move(reason));
  if (decision && is_first) {
    tripped_at_ = now;
    decision->has_tripped_breaker = true;
  }
  return decision;
}

std::optional<HealthDecision> HealthBook::quarantine(GpuId gpu, std::string reason) {
  Gpu& known = gpus_[gpu];
  if (known.state == HealthState::kDraining || known.state == HealthState::kQuarantined) return std::nullopt;
  known.has_stayed = true;
  return move(gpu, HealthState::kQuarantined, HealthOrder::kCordon, std::move(reason));
}

std::optional<HealthDecision> HealthBook::restart(const XidSeen& seen, std::string reason) {
  std::erase_if(restarts_, [&](const auto& each) { return each.second + kRestartsApart <= seen.at; });
  if (!restarts_.emplace(seen.slice, seen.at).second) return std::nullopt;
  const HealthState state = this->state(seen.gpu);
  return HealthDecision{.gpu = seen.gpu,
                        .from = state,
                        .to = state,
                        .order = HealthOrder::kRestartApp,
                        .slice = seen.slice,
                        .reason = std::move(reason)};
}

std::optional<HealthDecision> HealthBook::on_drained(GpuId gpu, Instant /*now*/) {
  if (state(gpu) != HealthState::kDraining) return std::nullopt;
  return move(gpu, HealthState::kQuarantined, HealthOrder::kNone, "its last slice is gone");
}

std::optional<HealthDecision> HealthBook::on_uncordoned(GpuId gpu, Instant /*now*/) {
  const HealthState before = state(gpu);
  if (before != HealthState::kDraining && before != HealthState::kQuarantined) return std::nullopt;
  HealthDecision decision = move(gpu, HealthState::kOk, HealthOrder::kNone, "uncordoned by an operator");
  gpus_.erase(gpu);
  return decision;
}

std::vector<HealthDecision> HealthBook::on_time(Instant now) {
  std::vector<HealthDecision> decisions;
  for (auto& [gpu, known] : gpus_) {
    if (known.state != HealthState::kSuspect || known.watched_at + kSuspectFor > now) continue;
    decisions.push_back(move(gpu, HealthState::kOk, HealthOrder::kNone,
                             fmt::format("no error for {} s", kSuspectFor.count() / kMicrosPerSecond)));
  }
  return decisions;
}

void HealthBook::adopt(GpuId gpu, HealthState state, Instant since) {
  gpus_[gpu] = {.state = state, .has_stayed = state == HealthState::kQuarantined, .watched_at = since};
  if (state != HealthState::kDraining) return;
  drains_.push_back(since);
  std::ranges::sort(drains_);
}

HealthState HealthBook::state(GpuId gpu) const {
  const auto found = gpus_.find(gpu);
  return found == gpus_.end() ? HealthState::kOk : found->second.state;
}

std::int64_t HealthBook::drains_left(Instant now) const {
  const auto recent = std::ranges::count_if(drains_, [&](Instant at) { return at + kBreakerWindow > now; });
  return std::max<std::int64_t>(0, std::max<std::int64_t>(1, gpu_count_ * kBreakerPercent / 100) - recent);
}

HealthDecision HealthBook::move(GpuId gpu, HealthState to, HealthOrder order, std::string reason) {
  Gpu& known = gpus_[gpu];
  HealthDecision decision{.gpu = gpu, .from = known.state, .to = to, .order = order, .reason = std::move(reason)};
  known.state = to;
  return decision;
}

void HealthBook::forget_drains(Instant now) {
  while (!drains_.empty() && drains_.front() + kBreakerWindow <= now) drains_.pop_front();
}

std::optional<std::string> XidBursts::note(GpuId gpu, std::uint64_t xid, std::uint64_t count, Instant now) {
  const auto [found, is_new] = bursts_.try_emplace({gpu, xid}, Burst{.count = 0, .last = now, .told = now});
  Burst& burst = found->second;
  burst.last = now;
  if (!is_new) {
    burst.count += count;
    return std::nullopt;
  }
  std::string text = fmt::format("XID {}", xid);
  if (count > 1) text += fmt::format(", {} times", count);
  return text;
}

std::vector<XidBursts::Ended> XidBursts::take(Instant now) {
  std::vector<Ended> ended;
  for (auto it = bursts_.begin(); it != bursts_.end();) {
    Burst& burst = it->second;
    const bool is_over = burst.last + kBurstEndsAfter <= now;
    if (burst.count > 0 && (is_over || burst.told + kBurstReportedAfter <= now)) {
      ended.push_back({.gpu = it->first.first,
                       .text = fmt::format("XID {}, {} more times, the last one {} ms ago", it->first.second,
                                           burst.count, (now - burst.last).count() / 1000)});
      burst.count = 0;
      burst.told = now;
    }
    it = is_over ? bursts_.erase(it) : std::next(it);
  }
  return ended;
}

}  // namespace berth::health
