#include "purchase/spot/learning_policy.h"

#include <algorithm>

namespace berth::purchase {
namespace {

/// The table is rebuilt after a further 1 / kNewsShare of the ticks seen.
constexpr std::int64_t kNewsShare = 5;
/// The prior of evictions: one in this many ticks of spot, with the weight of one eviction.
constexpr double kTicksPerEviction = 24;

}  // namespace

LearningPolicy::LearningPolicy(const Market& market, const SpotJob& job, const SpotPrices& prices)
    : market_(market),
      math_{.job = job, .tick_seconds = market.tick_seconds},
      prices_(prices),
      any_(market.tick_seconds),
      zones_(market.zone_count(), SpellLearner(market.tick_seconds)) {}

Holding LearningPolicy::want(const RunState& state) {
  observe(state.tick);
  observe_eviction(state);
  if (state.tick >= next_table_tick_) {
    table_.emplace(make_table(state.tick));
    next_table_tick_ = state.tick + 1 + state.tick / kNewsShare;
  }
  const Holding spot = best_spot(state);
  const AgeScale& scale = any_.scale();
  const MarketNow now{.has_spot = spot.hold == Hold::kSpot, .age_class = scale.class_of(any_.age())};
  if (math_.ticks_left(state.tick) <= 0) return kOnDemandInstance;
  Holding choice = kOnDemandInstance;
  switch (table_->cheapest(state, now)) {
    case Hold::kNone:
      choice = kNothing;
      break;
    case Hold::kSpot:
      choice = spot;
      break;
    case Hold::kOnDemand:
      break;
  }
  return is_safe(state, choice) ? choice : kOnDemandInstance;
}

bool LearningPolicy::is_safe(const RunState& state, Holding choice) const {
  if (choice.hold == Hold::kOnDemand) return true;  // no choice is safer
  const RunState next = math_.after(state, choice);
  if (next.done_seconds == math_.job.task_seconds) return true;
  const std::int64_t left = math_.ticks_left(next.tick);
  const std::int64_t needed = math_.ticks_needed(next.done_seconds, 1);
  // The guard would keep a running spot instance; if it is lost, its tick is lost.
  const bool is_running_spot = choice.hold == Hold::kSpot && next.restart_seconds == 0;
  return is_running_spot ? needed < left : needed <= left;
}

Holding LearningPolicy::best_spot(const RunState& state) const {
  if (state.held.hold == Hold::kSpot) return state.held;
  Holding best = kNothing;
  double best_hazard = 2;
  for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
    if (!market_.has(zone, state.tick)) continue;
    const SpellLearner& learner = zones_[zone];
    const double hazard = zones_.size() == 1 ? 0 : learner.hazards().available[learner.scale().class_of(learner.age())];
    if (hazard >= best_hazard) continue;
    best = spot_in(zone);
    best_hazard = hazard;
  }
  return best;
}

void LearningPolicy::observe(std::int64_t tick) {
  bool is_any_available = false;
  for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
    const bool is_available = market_.has(zone, tick);
    zones_[zone].observe(is_available);
    is_any_available = is_any_available || is_available;
  }
  any_.observe(is_any_available);
}

void LearningPolicy::observe_eviction(const RunState& state) {
  if (state.type.hold != Hold::kSpot) return;
  ++spot_ticks_;
  if (state.held.hold == Hold::kSpot) return;
  for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
    if (market_.has(zone, state.tick)) {
      ++evictions_;
      return;
    }
  }
}

CostToGo LearningPolicy::make_table(std::int64_t tick) const {
  const SpotJob& job = math_.job;
  MarketModel model{.hazards = any_.hazards(), .eviction = 0};
  if (zones_.size() > 1) {
    model.eviction = (static_cast<double>(evictions_) + 1) / (static_cast<double>(spot_ticks_) + kTicksPerEviction);
  }
  return CostToGo({.math = math_,
                   .prices = prices_,
                   .ticks_left = std::max<std::int64_t>(math_.ticks_left(tick), 1),
                   .slack_seconds_max = job.deadline_seconds - job.task_seconds},
                  any_.scale(), model);
}

}  // namespace berth::purchase
