#include "domain/forecast/backtest.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"
#include "domain/forecast/detail/lead_state.h"

namespace berth::forecast {
namespace {

using detail::Spread;
using detail::UnroundedForecast;

using detail::kGrid025;
using detail::kGrid10;
using detail::kGrid50;
using detail::kGrid90;
using detail::kGrid975;

struct SecondsRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The results of one model's forecasts.
class Tally {
 public:
  void add(const Spread& spread, double count) {
    ++judged_;
    arrived_ += count;
    error_ += std::abs(count - std::floor(spread[kGrid50]));
    pinball_ += detail::pinball_of(spread, count);
    inside_80_ += share_between(count, spread[kGrid10], spread[kGrid90]);
    inside_95_ += share_between(count, spread[kGrid025], spread[kGrid975]);
  }
  [[nodiscard]] std::int64_t judged() const { return judged_; }
  [[nodiscard]] ModelScore score(Model model) const {
    const auto judged = static_cast<double>(judged_);
    return {.model = model,
            .wape = arrived_ > 0 ? std::optional(error_ / arrived_) : std::nullopt,
            .pinball = pinball_ / judged,
            .coverage_80 = inside_80_ / judged,
            .coverage_95 = inside_95_ / judged};
  }

 private:
  std::int64_t judged_ = 0;
  double arrived_ = 0;
  double error_ = 0;
  double pinball_ = 0;
  double inside_80_ = 0;
  double inside_95_ = 0;
};

SecondsRange pictured(std::span<const std::uint32_t> counts, const BacktestPlan& plan) {
  const SecondsRange window{.begin = plan.from_second, .end = plan.from_second + plan.seconds};
  const auto first = counts.begin() + window.begin;
  const std::int64_t busiest = std::max_element(first, counts.begin() + window.end) - counts.begin();
  const std::int64_t begin =
      std::max(window.begin, std::min(busiest - kPictureSecondsMax / 2, window.end - kPictureSecondsMax));
  return {.begin = begin, .end = std::min(window.end, begin + kPictureSecondsMax)};
}

/// Adds the seconds of a forecast that no later forecast covers.
void add_to_picture(std::vector<ForecastSecond>& picture, SecondsRange shown, SecondsRange reported,
                    std::span<const std::uint32_t> counts, const std::vector<Quantiles>& quantiles) {
  for (std::int64_t second = std::max(shown.begin, reported.begin); second < std::min(shown.end, reported.end);
       ++second) {
    const std::int64_t i = second - reported.begin;
    picture.push_back({.second = second,
                       .lead = i + 1,
                       .arrived = counts[static_cast<std::size_t>(second)],
                       .quantiles = quantiles[static_cast<std::size_t>(i)]});
  }
}

/// One model's pass through the trace. False if it was stopped.
bool run_model(std::span<const std::uint32_t> counts, Model model, const BacktestHook& go_on, BacktestResult& result) {
  constexpr std::int64_t kOriginsBetweenHooks = 64;
  const BacktestPlan& plan = result.plan;
  const std::int64_t end = plan.from_second + plan.seconds;
  const SecondsRange shown = pictured(counts, plan);
  Forecaster forecaster(model);
  Tally tally;
  std::int64_t origins = 0;
  std::int64_t known = 0;
  for (std::int64_t origin = plan.from_second; origin < end; origin += plan.every) {
    for (; known < origin; ++known) forecaster.observe(known, counts[static_cast<std::size_t>(known)]);
    const std::vector<UnroundedForecast> forecasts =
        forecaster.predict_unrounded(origin, std::min(plan.horizon, end - origin));
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
      tally.add(forecasts[i].spread, counts[static_cast<std::size_t>(origin) + i]);
    }
    const SecondsRange reported{.begin = origin, .end = origin + std::min(plan.every, plan.horizon)};
    if (model == Model::kCombination && reported.begin < shown.end && reported.end > shown.begin) {
      add_to_picture(result.picture, shown, reported, counts,
                     forecaster.predict(origin, reported.end - reported.begin));
    }
    const bool is_hook_due = origins++ % kOriginsBetweenHooks == 0;
    if (is_hook_due && !go_on(model, static_cast<double>(origin) / static_cast<double>(end))) return false;
  }
  result.origins = origins;
  result.judged_seconds = tally.judged();
  result.models.push_back(tally.score(model));
  return true;
}

}  // namespace

std::optional<BacktestResult> backtest(std::span<const std::uint32_t> counts, const BacktestPlan& plan,
                                       const BacktestHook& go_on) {
  ENSURE(plan.from_second >= 0 && plan.seconds > 0 && plan.horizon > 0 && plan.every > 0);
  ENSURE(plan.from_second + plan.seconds <= static_cast<std::int64_t>(counts.size()));
  BacktestResult result{.plan = plan, .origins = 0, .judged_seconds = 0, .models = {}, .picture = {}};
  result.models.reserve(kModels.size());
  for (const Model model : kModels) {
    if (!run_model(counts, model, go_on, result)) return std::nullopt;
  }
  return result;
}

}  // namespace berth::forecast
