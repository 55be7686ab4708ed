#include "models/probing/latency.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

constexpr std::chrono::nanoseconds kTurnMin = std::chrono::microseconds(500);
constexpr int kRunsMax = 1 << 20;

double to_us(std::chrono::nanoseconds time) {
  // A time of nothing would make a ratio of nothing: no clock measures less than a nanosecond.
  return static_cast<double>(std::max<std::int64_t>(time.count(), 1)) / 1e3;
}

/// A model, and how many runs of it are timed together.
class TimedModel {
 public:
  TimedModel(ProbedModel& model, std::span<const Tensor> inputs) : model_(model), inputs_(inputs) {}

  /// Runs the model until so many runs in a row take long enough, and once more: the first ones get memory.
  Result<void> warm_up() {
    for (bool is_last = false; !is_last;) {
      const auto time = model_.time(inputs_, runs_);
      if (!time) return pass_on(time.error());
      is_last = *time * runs_ >= kTurnMin || runs_ >= kRunsMax;
      if (!is_last) runs_ *= 2;
    }
    const auto time = model_.time(inputs_, runs_);
    if (!time) return pass_on(time.error());
    return {};
  }
  /// Adds the time of a turn.
  Result<void> take_turn() {
    const auto time = model_.time(inputs_, runs_);
    if (!time) return pass_on(time.error());
    times_us_.push_back(to_us(*time));
    return {};
  }
  [[nodiscard]] const std::vector<double>& times_us() const { return times_us_; }

 private:
  ProbedModel& model_;
  std::span<const Tensor> inputs_;
  int runs_ = 1;
  std::vector<double> times_us_;
};

/// The first of each pair and the second one come from neighbours: A B, and B A.
Result<void> run_round(TimedModel& original, TimedModel& variant) {
  for (TimedModel* const turn : {&original, &variant, &variant, &original}) {
    if (auto taken = turn->take_turn(); !taken) return taken;
  }
  return {};
}

}  // namespace

Result<LatencyMeasured> measure_latency(ProbedModel& original, ProbedModel& variant, std::span<const Tensor> inputs,
                                        const LatencyOptions& options, const std::function<Instant()>& now) {
  ENSURE(options.rounds_min >= 5 && options.rounds_max >= options.rounds_min);
  const Instant end = now() + options.budget;
  TimedModel first(original, inputs);
  TimedModel second(variant, inputs);
  for (TimedModel* const each : {&first, &second}) {
    if (auto warm = each->warm_up(); !warm) return pass_on(warm.error());
  }
  LatencyMeasured measured;
  while (!measured.is_settled && (measured.rounds < options.rounds_min || now() < end)) {
    if (auto round = run_round(first, second); !round) return pass_on(round.error());
    ++measured.rounds;
    if (measured.rounds < options.rounds_min) continue;
    measured.ratio = latency_ratio(first.times_us(), second.times_us());
    const double width = measured.ratio.high - measured.ratio.low;
    measured.is_settled = width <= options.width_target * measured.ratio.ratio || measured.rounds == options.rounds_max;
  }
  measured.original_us = median_of(first.times_us());
  measured.variant_us = median_of(second.times_us());
  return measured;
}

}  // namespace berth::models
