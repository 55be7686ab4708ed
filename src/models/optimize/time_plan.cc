#include "models/optimize/time_plan.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

/// Per cent of the budget that is for measuring.
constexpr std::int64_t kMeasurePercent = 35;

}  // namespace

TimePlan::TimePlan(Instant start, Micros total, int variants, int search_weights)
    : end_(start + total),
      measure_each_(std::max(measuring_share(total, variants), Micros(1))),
      expected_each_(measure_each_),
      variants_left_(variants),
      weights_left_(search_weights) {
  ENSURE(total > Micros() && variants >= 0 && search_weights >= 0);
}

Instant TimePlan::begin_search(Instant now, int weight) {
  ENSURE(0 < weight && weight <= weights_left_);
  const Micros left = end_ - now;
  // Where not all variants fit, as many are planned as half of the time is enough to measure, and at least one.
  const std::int64_t fitting = std::max<std::int64_t>(left.count() / 2 / expected_each_.count(), 1);
  const Micros searching = left - expected_each_ * std::min<std::int64_t>(variants_left_, fitting);
  const Micros share(searching.count() / weights_left_ * weight);
  weights_left_ -= weight;
  return now + share;
}

Micros TimePlan::begin_measuring() {
  if (variants_left_ > 0) --variants_left_;
  return std::max(measure_each_, kMeasureMin);
}

void TimePlan::note_measured(Micros took) { expected_each_ = std::max(expected_each_, took); }

Micros TimePlan::measuring_share(Micros total, int variants) {
  return Micros(total.count() / 100 * kMeasurePercent / std::max(variants, 1));
}

void TimePlan::drop_search(int weight) {
  ENSURE(weight <= weights_left_);
  weights_left_ -= weight;
}

void TimePlan::drop_variant() {
  if (variants_left_ > 0) --variants_left_;
}

}  // namespace berth::models
