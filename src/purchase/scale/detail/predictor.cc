#include "purchase/scale/detail/predictor.h"

#include <algorithm>
#include <cmath>

namespace berth::scale::detail {
namespace {

/// Errors are sampled at this interval: adjacent seconds carry nearly the same information.
constexpr std::int64_t kSampleSeconds = 4;
/// Margins are recomputed after at most this many seconds.
constexpr std::int64_t kRefreshSeconds = 20;
/// Decay factors: of all errors over time, and of a part's errors per period.
constexpr double kPooledFade = 0.998;  ///< per kRefreshSeconds: half after two hours
constexpr double kPartFade = 0.94;     ///< per period: half after 11
/// With this many samples a part's own errors weigh as much as all others.
constexpr double kPartSamples = 50;
/// The prior before the first error: a normal law of this weight and of the deviation below.
constexpr double kPriorSamples = 100;
constexpr double kPriorDeviation = 1.2;
/// Floors, as multiples of the mean of the last View::floor_seconds.
constexpr MarginValues kFloors = {1, 1.125, 1.25, 1.375, 1.5, 1.75, 2, 2.5, 3};
/// The noise of the level, where it exceeds the floor, is covered by this many error units.
constexpr double kLevelUnits = 0.5;
/// Predictions from a shorter record do not count as samples of errors.
constexpr std::int64_t kKnownSecondsMin = 30;
/// The part of the error unit beyond counting noise, as a share of the mean.
constexpr double kSpread = 0.1;
/// A season's factor below this is not trusted as a divisor.
constexpr double kFactorMin = 0.2;

/// The unit in which errors of a count are measured: about its standard deviation, so that errors at low and high load
/// are comparable.
double error_unit(double count) { return std::sqrt(count + kSpread * kSpread * count * count + 0.25); }

}  // namespace

Predictor::Predictor(View view, std::int64_t lead_seconds, std::int64_t window_seconds)
    : view_(view),
      lead_seconds_(lead_seconds),
      window_seconds_(window_seconds),
      pending_(static_cast<std::size_t>(lead_seconds + window_seconds + 1), -1),
      pooled_(ErrorLaw::normal(kPriorSamples, kPriorDeviation)) {
  if (!view.season) return;
  season_.emplace(*view.season);
  by_part_.resize(view.season->part_count());
}

double& Predictor::pending(std::int64_t second) {
  const auto size = static_cast<std::int64_t>(pending_.size());
  const std::int64_t place = second % size;
  return pending_[static_cast<std::size_t>(place < 0 ? place + size : place)];
}

Demand Predictor::step(const RecentSums& sums) {
  learn(sums);
  const std::int64_t target = sums.next() + lead_seconds_;
  refresh(target);
  const double predicted = predict(sums);
  const bool is_known = sums.next() - sums.first() >= kKnownSecondsMin;
  pending(target) = is_known ? predicted : -1;
  if (view_.floor_seconds > 0) return floors(sums, predicted);
  Demand demand{.mean = predicted, .at_margin = {}};
  const auto window = static_cast<double>(window_seconds_);
  const double count = predicted * window;
  const double unit = error_unit(count);
  for (std::size_t j = 0; j < margins_.size(); ++j) demand.at_margin[j] = (count + margins_[j] * unit) / window;
  return demand;
}

Demand Predictor::floors(const RecentSums& sums, double predicted) const {
  const double usual = sums.mean(std::max(sums.first(), sums.next() - view_.floor_seconds), sums.next());
  const auto window = static_cast<double>(window_seconds_);
  const double level = predicted + kLevelUnits * error_unit(predicted * window) / window;
  Demand demand{.mean = predicted, .at_margin = {}};
  for (std::size_t j = 0; j < kFloors.size(); ++j) demand.at_margin[j] = std::max(level, kFloors[j] * usual);
  return demand;
}

MarginValues Predictor::shortfalls(double rate) const {
  const double count = std::max(rate * static_cast<double>(window_seconds_), 0.1);
  MarginValues limits = pooled_.quantiles(1, pooled_);
  if (view_.floor_seconds > 0) {
    for (std::size_t j = 0; j < limits.size(); ++j) limits[j] = (kFloors[j] - 1) * count / error_unit(count);
  }
  MarginValues shares = pooled_.shortfalls(limits);
  for (double& share : shares) share = std::min(1.0, share * error_unit(count) / count);
  return shares;
}

double Predictor::covered(double rate, double mean) const {
  const auto window = static_cast<double>(window_seconds_);
  return pooled_.share_up_to((rate - mean) * window / error_unit(mean * window));
}

double Predictor::predict(const RecentSums& sums) const {
  const std::int64_t now = sums.next();
  const std::int64_t from = std::max(sums.first(), now - view_.level_seconds);
  const double level = sums.mean(from, now);
  if (!season_) return level;
  return level * season_->factor(now + lead_seconds_) / std::max(season_->mean_factor(from, now), kFactorMin);
}

void Predictor::learn(const RecentSums& sums) {
  if (season_) season_->observe(sums);
  const std::int64_t from = sums.next() - window_seconds_;
  if (from < sums.first() || from % kSampleSeconds != 0) return;
  const double predicted = pending(from);
  if (predicted < 0) return;
  const double count = predicted * static_cast<double>(window_seconds_);
  const double error = (static_cast<double>(sums.sum(from, sums.next())) - count) / error_unit(count);
  pooled_.observe(error);
  if (season_) by_part_[season_->shape().part_of(from)].observe(error);
}

void Predictor::refresh(std::int64_t second) {
  if (has_margins_ && second < margins_until_) return;
  const std::int64_t length = season_ ? season_->shape().part : kRefreshSeconds;
  margins_until_ = second - ((second % length) + length) % length + length;
  has_margins_ = true;
  pooled_.fade(std::pow(kPooledFade, static_cast<double>(length) / static_cast<double>(kRefreshSeconds)));
  if (!season_) {
    margins_ = pooled_.quantiles(1, pooled_);
    return;
  }
  ErrorLaw& own = by_part_[season_->shape().part_of(second)];
  margins_ = own.quantiles(own.samples() / (own.samples() + kPartSamples), pooled_);
  own.fade(kPartFade);
}

}  // namespace berth::scale::detail
