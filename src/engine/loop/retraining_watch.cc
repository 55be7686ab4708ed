#include "engine/loop/retraining_watch.h"

#include <algorithm>
#include <optional>

namespace berth {
namespace {

/// The latest due time up to `at`; nothing before the first.
std::optional<Instant> latest_due(const Retraining& retraining, Instant since, Instant at) {
  const Instant first = since + retraining.offset;
  if (at < first) return std::nullopt;
  return first + retraining.every * ((at - first).count() / retraining.every.count());
}

}  // namespace

RetrainingWatch::RetrainingWatch(const Scenario& scenario) : scenario_(scenario), services_(scenario.services.size()) {}

/// When a retraining becomes due, a finished predecessor is over, and the progress of an unfinished one is lost or
/// kept. The slice continues with the next.
double RetrainingWatch::progress_at(const Progress& progress, const Retraining& retraining, Instant at) const {
  const auto due = latest_due(retraining, progress.since, at);
  if (is_first_ || !due || *due <= seen_at_) return progress.done + progress.per_second * (at - seen_at_).to_seconds();
  const double until_due = progress.done + progress.per_second * (*due - seen_at_).to_seconds();
  const bool is_kept = retraining.keeps_unfinished && until_due < planner::kDone;
  return (is_kept ? until_due : 0) + progress.per_second * (at - *due).to_seconds();
}

void RetrainingWatch::observe(const Snapshot& snapshot) {
  services_.resize(snapshot.services.size());
  for (std::size_t index = 0; index < services_.size(); ++index) {
    const ServiceState& seen = snapshot.services[index];
    if (seen.number != services_[index].number || seen.retrains_since != services_[index].since) {
      services_[index] = Progress();
      services_[index].number = seen.number;
      services_[index].since = seen.retrains_since;
    }
    const auto& spec = scenario_.services[index].retraining;
    if (!spec) continue;
    Progress& progress = services_[index];
    progress.done = progress_at(progress, *spec, snapshot.now);
    const bool is_stale = seen.is_retraining_due;
    if (progress.is_stale && !is_stale) {
      progress.fresh_at = snapshot.now + spec->swap;
      progress.done = 0;
    }
    if (!progress.is_stale && is_stale) progress.done = 0;
    progress.is_stale = is_stale;
    progress.per_second = 0;
  }
  for (const StandingSlice& standing : snapshot.staying()) {
    const Holding& holding = standing.holding;
    if (holding.role != Role::kRetraining || !standing.is_ready) continue;
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
  now.due_since = progress.since;
  const auto due = latest_due(*spec, progress.since, at);
  now.is_stale = progress.is_stale || (due && *due > seen_at_);
  now.progress = progress_at(progress, *spec, at);
  if (!now.is_stale && progress.fresh_at > at) now.fresh_in = progress.fresh_at - at;
  return now;
}

}  // namespace berth
