/// Which models will be asked for soon, from the gaps between their requests: what `EvictionRule::kWarm` decides by.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "serving/dispatch/arrival_rate.h"
#include "serving/dispatch/device_state.h"
#include "serving/dispatch/model_demand.h"
#include "serving/dispatch/request.h"
#include "serving/warm/predictor.h"

namespace berth::serving {

/// The step in which gaps are counted. Its pool of all models tells gaps of up to 768 steps apart, here an hour, and a
/// model is seldom loaded in less than a tenth of it: shorter steps would lose the former and gain nothing. Models that
/// are asked for in every step are told apart by the horizon, which is then a single one, and stay anyway.
inline constexpr Micros kWarmStep = Micros::seconds(5);
/// A time without any request counts as that long at most, and nothing is expected after it: a day.
inline constexpr std::int64_t kWarmPauseStepsMax = 17'280;

/// A warm::Predictor with a key for each model and minutes of kWarmStep. The horizon of its probabilities is twice the
/// time that loading anew all that is resident takes, since what is needed later can be loaded later; or the time in
/// which the models that are expected fill the memory, if that is shorter; and at least the rest of the step and the
/// next one.
class WarmDemand {
 public:
  void add_model();
  /// Requires: not before the last call.
  void learn_arrival(ModelIndex model, Instant now);
  /// A load began for which a request waits.
  void learn_needed_load(Instant now) { needed_loads_.add(now, 1); }
  /// Ends the steps that are over, and sets the horizon anew: O(models) for each. Whether there were any.
  bool advance(const DeviceState& device, Instant now);
  /// When the step that is under way ends; never() if nothing is expected.
  [[nodiscard]] Instant wake_at(Instant now) const;

  /// The probability that the model is asked for within the horizon; 0 if it never was. O(its gaps).
  [[nodiscard]] double chance(ModelIndex model) const { return chance_within(model, horizon_); }
  /// The time that requests for the model would wait within the horizon if it left now, in seconds: `chance` times the
  /// wait of the request that begins a load and of those that arrive meanwhile, at the rate of the last ones.
  [[nodiscard]] double wait_saved(ModelIndex model, const ModelTerms& terms, Instant now) const;
  /// `wait_saved` by a byte of its memory.
  [[nodiscard]] double value(ModelIndex model, const ModelTerms& terms, Instant now) const;
  /// Of the last minutes.
  [[nodiscard]] double needed_loads_per_second(Instant now) const { return needed_loads_.per_second(now); }
  [[nodiscard]] Micros horizon() const { return kWarmStep * horizon_; }

 private:
  /// Counted without the pauses that were too long.
  [[nodiscard]] std::int64_t step_at(Instant now) const { return now.micros() / kWarmStep.count() - skipped_; }
  void finish_steps(std::int64_t until);
  [[nodiscard]] double chance_within(ModelIndex model, std::int64_t steps) const;
  [[nodiscard]] std::int64_t horizon_of(const DeviceState& device) const;

  warm::Predictor predictor_;
  std::vector<ModelDemand> requests_;          ///< by model
  std::vector<bool> is_asked_;                 ///< by model, in the step that is under way
  std::vector<warm::Invoked> asked_;           ///< likewise
  std::optional<std::int64_t> step_;           ///< that is under way; nothing before the first request
  std::optional<std::int64_t> step_advanced_;  ///< at the last `advance`
  std::int64_t step_last_asked_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t horizon_ = 1;  ///< in steps
  ArrivalRate needed_loads_ = ArrivalRate(Micros::seconds(60));
};

}  // namespace berth::serving
