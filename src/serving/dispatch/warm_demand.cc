#include "serving/dispatch/warm_demand.h"

#include <algorithm>
#include <limits>

namespace berth::serving {
namespace {

/// What is left of the step that is under way, and the next one: less would leave no time to load what is expected.
constexpr std::int64_t kHorizonMin = 2;

}  // namespace

void WarmDemand::add_model() {
  predictor_.add_key();
  requests_.emplace_back();
  is_asked_.push_back(false);
}

void WarmDemand::learn_arrival(ModelIndex model, Instant now) {
  if (step_) skipped_ += std::max<std::int64_t>(step_at(now) - step_last_asked_ - kWarmPauseStepsMax, 0);
  finish_steps(step_at(now));
  step_last_asked_ = step_at(now);
  const auto key = static_cast<std::size_t>(model);
  requests_[key].learn_arrival(now, 1);
  if (is_asked_[key]) return;
  is_asked_[key] = true;
  asked_.push_back({.key = key});
}

void WarmDemand::finish_steps(std::int64_t until) {
  if (step_ && until > *step_) {
    std::ranges::sort(asked_, {}, &warm::Invoked::key);
    predictor_.finish_minute(*step_, asked_);
    if (until > *step_ + 1) predictor_.finish_minute(until - 1, {});
    for (const warm::Invoked& each : asked_) is_asked_[each.key] = false;
    asked_.clear();
  }
  step_ = std::max(until, step_.value_or(until));
}

bool WarmDemand::advance(const DeviceState& device, Instant now) {
  if (!step_) return false;
  finish_steps(std::min(step_at(now), step_last_asked_ + kWarmPauseStepsMax));
  if (step_advanced_ == step_) return false;
  step_advanced_ = step_;
  horizon_ = horizon_of(device);
  return true;
}

Instant WarmDemand::wake_at(Instant now) const {
  if (!step_ || step_at(now) - step_last_asked_ >= kWarmPauseStepsMax) return Instant::never();
  return Instant((now.micros() / kWarmStep.count() + 1) * kWarmStep.count());
}

double WarmDemand::chance_within(ModelIndex model, std::int64_t steps) const {
  const auto key = static_cast<std::size_t>(model);
  if (is_asked_[key]) return predictor_.probability_after(key, *step_, steps);
  return predictor_.probability_within(key, steps).value_or(0);
}

double WarmDemand::wait_saved(ModelIndex model, const ModelTerms& terms, Instant now) const {
  const double load = terms.load.to_seconds();
  const double others = requests_[static_cast<std::size_t>(model)].requests_per_second(now) * load;
  return chance(model) * load * (1 + others / 2);
}

double WarmDemand::value(ModelIndex model, const ModelTerms& terms, Instant now) const {
  if (terms.bytes <= 0) return std::numeric_limits<double>::max();
  return wait_saved(model, terms, now) / static_cast<double>(terms.bytes);
}

std::int64_t WarmDemand::horizon_of(const DeviceState& device) const {
  Micros loads;
  for (const ServedModel& model : device.models()) {
    if (model.residency == Residency::kResident) loads += model.terms.load;
  }
  std::int64_t steps = std::min(2 * loads.count() / kWarmStep.count() + kHorizonMin, kWarmPauseStepsMax);
  const auto is_full = [&] {
    double expected = 0;
    for (const ModelIndex index : Indices<ModelIndex>(device.models().size())) {
      expected += chance_within(index, steps) * static_cast<double>(device.model(index).terms.bytes);
    }
    return expected > static_cast<double>(device.memory());
  };
  while (steps > kHorizonMin && is_full()) steps = std::max(steps / 2, kHorizonMin);
  return steps;
}

}  // namespace berth::serving
