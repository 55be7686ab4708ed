#include "purchase/spot/cost_to_go.h"

#include <algorithm>
#include <cmath>

#include "base/core/whole_division.h"

namespace berth::purchase {
namespace {

constexpr std::size_t kNothingHeld = 0;
constexpr std::size_t kOnDemandHeld = 1;
constexpr std::size_t kSpotHeld = 2;  ///< running; after it, those still restarting

/// Longer jobs use longer steps, so that the table stays small.
constexpr std::int64_t kStepsMax = 450;
/// A restart is divided into at most this many steps.
constexpr std::int64_t kRestartStepsMax = 3;

// The grid of slack: points half a step apart, then at growing distances.
constexpr double kGridStep = 0.5;
constexpr std::size_t kEvenPoints = 9;
constexpr double kGridGrowth = 1.2;

/// More than any job costs, for choices that miss the deadline.
constexpr double kNever = 1e18;

/// The hazards of several ticks, from those of one.
ByAge over_ticks(const ByAge& hazards, std::int64_t ticks) {
  ByAge result{};
  for (std::size_t k = 0; k < kAgeClasses; ++k) result[k] = 1 - std::pow(1 - hazards[k], static_cast<double>(ticks));
  return result;
}

}  // namespace

CostToGo::CostToGo(const Problem& problem, const AgeScale& scale, const MarketModel& model)
    : problem_(problem), scale_(scale), model_(model) {
  const TickMath& math = problem_.math;
  restart_seconds_ = static_cast<double>(math.job.restart_seconds);
  step_ticks_ = std::max({std::int64_t{1}, ceil_divide(problem_.ticks_left, kStepsMax),
                          ceil_divide(math.job.restart_seconds, kRestartStepsMax * math.tick_seconds)});
  step_seconds_ = static_cast<double>(step_ticks_ * math.tick_seconds);
  slack_min_ = restart_seconds_ + static_cast<double>(math.tick_seconds);
  warm_steps_ = static_cast<std::size_t>(
      std::max(std::int64_t{1}, ceil_divide(math.job.restart_seconds, step_ticks_ * math.tick_seconds)));
  model_.hazards = {.away = over_ticks(model.hazards.away, step_ticks_),
                    .available = over_ticks(model.hazards.available, step_ticks_)};
  model_.eviction = 1 - std::pow(1 - model.eviction, static_cast<double>(step_ticks_));
  make_grid();
  state_count_ = kAgeClasses * (held_count(false) + held_count(true));
  const std::int64_t steps_max = problem_.ticks_left / step_ticks_;
  costs_.resize(state_count_ * grid_.size());
  expectations_.resize(static_cast<std::size_t>(steps_max + 1) * costs_.size());
  Moves moves{.stays = moved(0),
              .waits = moved(step_seconds_),
              .restarts = moved(restart_seconds_),
              .starts_spot = moved(restart_step(warm_steps_)),
              .warms = {}};
  for (std::size_t left = 1; left < warm_steps_; ++left) moves.warms.push_back(moved(restart_step(left)));
  for (std::int64_t steps = 1; steps <= steps_max; ++steps) add_costs(steps, moves);
}

void CostToGo::make_grid() {
  double step = step_seconds_ * kGridStep;
  const double end = std::max(static_cast<double>(problem_.slack_seconds_max), slack_min_) + step_seconds_;
  for (double slack = slack_min_; grid_.size() < 2 || grid_.back() < end; slack += step) {
    grid_.push_back(slack);
    if (grid_.size() >= kEvenPoints) step *= kGridGrowth;
  }
}

std::vector<CostToGo::Place> CostToGo::moved(double seconds) const {
  std::vector<Place> places;
  places.reserve(grid_.size());
  for (const double slack : grid_) places.push_back(place_of(slack - seconds));
  return places;
}

CostToGo::Place CostToGo::place_of(double slack) const {
  if (slack < slack_min_) return {.first = -1, .share = 0};
  const auto above = std::upper_bound(grid_.begin(), grid_.end(), slack);
  if (above == grid_.end()) return {.first = static_cast<int>(grid_.size()) - 2, .share = 1};
  const double low = *(above - 1);
  return {.first = static_cast<int>(above - grid_.begin()) - 1, .share = (slack - low) / (*above - low)};
}

double CostToGo::restart_step(std::size_t left) const {
  const double before = static_cast<double>(warm_steps_ - left) * step_seconds_;
  return std::clamp(restart_seconds_ - before, 0.0, step_seconds_);
}

std::size_t CostToGo::state_of(bool has_spot, std::size_t age_class, std::size_t held) const {
  if (!has_spot) return age_class * held_count(false) + held;
  return kAgeClasses * held_count(false) + age_class * held_count(true) + held;
}

double CostToGo::cost_on_demand(std::int64_t steps, double slack, bool is_running) const {
  const double work = static_cast<double>(steps) * step_seconds_ - slack;
  if (work <= 0) return 0;
  const double restart = is_running ? 0 : restart_seconds_;
  if (slack < restart) return kNever;
  const double ticks = std::ceil((work + restart) / static_cast<double>(problem_.math.tick_seconds));
  return ticks * static_cast<double>(problem_.prices.on_demand_micro_usd);
}

double CostToGo::expected(std::int64_t steps, std::size_t state, bool is_on_demand, double slack, Place place) const {
  if (slack >= static_cast<double>(steps) * step_seconds_) return 0;  // all work is done
  if (place.first < 0) return cost_on_demand(steps, slack, is_on_demand);
  const std::size_t row = static_cast<std::size_t>(steps) * state_count_ + state;
  const double* points = &expectations_[row * grid_.size() + static_cast<std::size_t>(place.first)];
  return points[0] * (1 - place.share) + points[1] * place.share;
}

void CostToGo::add_costs(std::int64_t steps, const Moves& moves) {
  for (const bool has_spot : {false, true}) {
    for (std::size_t k = 0; k < kAgeClasses; ++k) add_costs_of(steps, moves, has_spot, k);
  }
  for (const bool has_spot : {false, true}) {
    for (std::size_t k = 0; k < kAgeClasses; ++k) add_expectations(steps, has_spot, k);
  }
}

/// The least cost for each holding, at each point of the grid.
void CostToGo::add_costs_of(std::int64_t steps, const Moves& moves, bool has_spot, std::size_t age_class) {
  const auto ticks = static_cast<double>(step_ticks_);
  const double spot_price = ticks * static_cast<double>(problem_.prices.spot_micro_usd);
  const double on_demand_price = ticks * static_cast<double>(problem_.prices.on_demand_micro_usd);
  const auto state = [&](std::size_t held) { return state_of(has_spot, age_class, held); };
  const auto cost = [&](std::size_t held, std::size_t j) -> double& { return costs_[state(held) * grid_.size() + j]; };
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    const double slack = grid_[j];
    if (slack >= static_cast<double>(steps) * step_seconds_) {
      for (std::size_t held = 0; held < held_count(has_spot); ++held) cost(held, j) = 0;
      continue;
    }
    const auto behind = [&](std::size_t held, double used, const std::vector<Place>& places) {
      return expected(steps - 1, state(held), held == kOnDemandHeld, slack - used, places[j]);
    };
    const double waiting = behind(kNothingHeld, step_seconds_, moves.waits);
    const double starting = on_demand_price + behind(kOnDemandHeld, restart_seconds_, moves.restarts);
    const double going_on = on_demand_price + behind(kOnDemandHeld, 0, moves.stays);
    const bool can_start_spot = has_spot && slack - restart_seconds_ >= slack_min_;
    const double to_spot =
        can_start_spot ? spot_price + behind(kSpotHeld + warm_steps_ - 1, restart_step(warm_steps_), moves.starts_spot)
                       : kNever;
    cost(kNothingHeld, j) = std::min({waiting, starting, to_spot});
    cost(kOnDemandHeld, j) = std::min({waiting, going_on, to_spot});
    if (!has_spot) continue;
    cost(kSpotHeld, j) = std::min({waiting, starting, spot_price + behind(kSpotHeld, 0, moves.stays)});
    for (std::size_t left = 1; left < warm_steps_; ++left) {
      const double warming = spot_price + behind(kSpotHeld + left - 1, restart_step(left), moves.warms[left - 1]);
      cost(kSpotHeld + left, j) = std::min({waiting, starting, warming});
    }
  }
}

/// The expectation of these costs one step earlier, before the market's next state is known.
void CostToGo::add_expectations(std::int64_t steps, bool has_spot, std::size_t age_class) {
  const double end = has_spot ? model_.hazards.available[age_class] : model_.hazards.away[age_class];
  const bool is_last = age_class + 1 == kAgeClasses;
  const auto width = static_cast<double>(scale_.width(age_class)) / static_cast<double>(step_ticks_);
  const double ageing = is_last ? 0 : std::min(1.0, 1 / width);
  const std::size_t older = is_last ? age_class : age_class + 1;
  const auto costs = [&](bool has, std::size_t k, std::size_t held) {
    return &costs_[state_of(has, k, held) * grid_.size()];
  };
  for (std::size_t held = 0; held < held_count(has_spot); ++held) {
    const bool is_spot = held >= kSpotHeld;
    const std::size_t without = is_spot ? kNothingHeld : held;  // what remains once spot is gone
    const double eviction = is_spot ? model_.eviction : 0;
    const double* ended = costs(!has_spot, 0, without);
    const double* same = costs(has_spot, age_class, held);
    const double* aged = costs(has_spot, older, held);
    const double* same_evicted = costs(has_spot, age_class, without);
    const double* aged_evicted = costs(has_spot, older, without);
    const std::size_t row = static_cast<std::size_t>(steps) * state_count_ + state_of(has_spot, age_class, held);
    double* target = &expectations_[row * grid_.size()];
    for (std::size_t j = 0; j < grid_.size(); ++j) {
      const double kept = (1 - ageing) * same[j] + ageing * aged[j];
      const double evicted = (1 - ageing) * same_evicted[j] + ageing * aged_evicted[j];
      target[j] = end * ended[j] + (1 - end) * ((1 - eviction) * kept + eviction * evicted);
    }
  }
}

Hold CostToGo::cheapest(const RunState& state, const MarketNow& now) const {
  const TickMath& math = problem_.math;
  const auto tick_seconds = static_cast<double>(math.tick_seconds);
  const auto left = static_cast<double>(math.ticks_left(state.tick)) * tick_seconds;
  const auto work = static_cast<double>(math.job.task_seconds - state.done_seconds);
  const std::int64_t steps = std::max<std::int64_t>(1, math.ticks_left(state.tick) / step_ticks_);
  // Whole steps only: the slack is measured to their end, so that the work left is exact.
  const double slack = static_cast<double>(steps) * step_seconds_ - work;
  const auto ticks = static_cast<double>(step_ticks_);
  const auto restart_left = static_cast<double>(state.restart_seconds);
  const auto behind = [&](std::size_t held, double used) {
    return expected(steps - 1, state_of(now.has_spot, now.age_class, held), held == kOnDemandHeld, slack - used,
                    place_of(slack - used));
  };
  const bool runs_on_demand = state.held.hold == Hold::kOnDemand;
  const double waiting = behind(kNothingHeld, step_seconds_);
  const double working = ticks * static_cast<double>(problem_.prices.on_demand_micro_usd) +
                         behind(kOnDemandHeld, runs_on_demand ? restart_left : restart_seconds_);
  double spot = kNever;
  const double spot_price = ticks * static_cast<double>(problem_.prices.spot_micro_usd);
  if (state.held.hold == Hold::kSpot) {
    const auto warming = static_cast<std::size_t>(std::ceil(restart_left / step_seconds_));
    spot =
        spot_price + behind(kSpotHeld + std::max<std::size_t>(warming, 1) - 1, std::min(restart_left, step_seconds_));
  } else if (now.has_spot && left - work - restart_seconds_ >= slack_min_) {
    spot = spot_price + behind(kSpotHeld + warm_steps_ - 1, restart_step(warm_steps_));
  }
  if (spot <= waiting && spot <= working) return Hold::kSpot;
  return waiting <= working ? Hold::kNone : Hold::kOnDemand;
}

}  // namespace berth::purchase
