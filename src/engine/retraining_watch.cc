#include "engine/retraining_watch.h"

#include <algorithm>

namespace berth {

RetrainingWatch::RetrainingWatch(const Scenario& scenario) : scenario_(scenario), services_(scenario.services.size()) {}

std::int64_t RetrainingWatch::period_of(const Retraining& retraining, Instant at) const {
  const std::int64_t past = (at - (Instant() + retraining.offset)).count();
  return past < 0 ? -1 : past / retraining.every.count();
}

void RetrainingWatch::observe(const Snapshot& snapshot) {
  const Micros passed = is_first_ ? Micros() : snapshot.now - seen_at_;
  for (std::size_t index = 0; index < services_.size(); ++index) {
    const auto& spec = scenario_.services[index].retraining;
    if (!spec) continue;
    Progress& progress = services_[index];
    progress.done += progress.per_second * passed.to_seconds();
    const bool is_next_due = !is_first_ && period_of(*spec, snapshot.now) != period_of(*spec, seen_at_);
    const bool is_stale = snapshot.services[index].is_retraining_due;
    if (progress.is_stale && !is_stale) {
      progress.fresh_at = snapshot.now + spec->swap;
      progress.done = 0;
    }
    if (is_next_due && !spec->keeps_unfinished) progress.done = 0;
    if (!progress.is_stale && is_stale) progress.done = 0;
    progress.is_stale = is_stale;
    progress.per_second = 0;
  }
  for (const StandingSlice& standing : snapshot.slices) {
    const Holding& holding = standing.holding;
    if (holding.role != Role::kRetraining || !standing.is_ready || standing.is_leaving) continue;
    const std::size_t index = holding.services.front().index;
    const auto& spec = scenario_.services[index].retraining;
    if (!spec || !services_[index].is_stale) continue;
    const auto time = retraining_time_on(*spec, scenario_.model_of(holding.slice.gpu), holding.slice.profile);
    if (time) services_[index].per_second = std::max(services_[index].per_second, 1 / time->to_seconds());
  }
  seen_at_ = snapshot.now;
  is_first_ = false;
}

planner::RetrainingNow RetrainingWatch::at(ServiceId service, Instant at) const {
  const Progress& progress = services_[service.index];
  planner::RetrainingNow now;
  const auto& spec = scenario_.services[service.index].retraining;
  if (!spec) return now;
  const bool is_due_until_then = period_of(*spec, at) != period_of(*spec, seen_at_);
  now.is_stale = progress.is_stale || is_due_until_then;
  now.progress = progress.done + progress.per_second * (at - seen_at_).to_seconds();
  if (is_due_until_then && !(progress.is_stale && spec->keeps_unfinished)) now.progress = 0;
  if (!now.is_stale && progress.fresh_at > at) now.fresh_in = progress.fresh_at - at;
  return now;
}

}  // namespace berth
