#include "domain/forecast/detail/member.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::forecast::detail {
namespace {

constexpr std::size_t kMinuteSpan = 2;
constexpr std::size_t kSituationSpan = 1;
constexpr std::size_t kLongestSpan = kSpanCount - 1;
constexpr std::size_t kDay = kPeriodCount - 1;

/// The squared error in units of Poisson noise at the service's long-term level.
double loss_of(const View& view, double mean, double count) {
  return (count - mean) * (count - mean) / (1 + view.level[kLongestSpan]);
}

/// The weight of a prior slope, in squared deviations in units of (1 + level).
constexpr double kGainPrior = 20;
/// The weight of a season's prior, in judgements. The prior loss is that of Poisson noise around a level.
constexpr double kLossPriorWeight = 3;

/// The levels from which a burst is measured.
constexpr std::array<std::size_t, 2> kBurstSpans = {0, 1};
/// Added to rates before they are compared: a hundredth of a request per second is not significant.
constexpr double kRateFloor = 0.02;
/// The limits between situations: the present level, as a multiple of its base.
constexpr std::array<double, kSituationCount - 1> kSituationEnds = {0.75, 1.4, 2.5};
/// A level is never expected to exceed the highest one seen by more than this factor.
constexpr double kOvershoot = 1.25;
/// Until there is evidence, a burst fades with this time constant.
constexpr double kBurstSeconds = 60;

}  // namespace

std::size_t situation_of(double level, double base) {
  const double ratio = (level + kRateFloor) / (base + kRateFloor);
  std::size_t situation = 0;
  while (situation < kSituationEnds.size() && ratio > kSituationEnds[situation]) ++situation;
  return situation;
}

View view_of(const ArrivalMemory& memory, std::int64_t second) {
  ENSURE(!memory.is_empty() && second > memory.last_second());
  View view;
  view.last = memory.last_requests();
  for (std::size_t span = 0; span < kSpanCount; ++span) {
    view.level[span] = memory.level(span);
    for (std::size_t period = 0; period < kPeriodCount; ++period) {
      view.swing_mean[period][span] = memory.swing(span, period);
    }
  }
  for (std::size_t period = 0; period < kPeriodCount; ++period) {
    view.swing_now[period] = memory.season(period).swing_at(memory.last_second());
  }
  view.situation = situation_of(view.level[kSituationSpan], view.level[kLongestSpan]);
  look_at(memory, second, view);
  return view;
}

void look_at(const ArrivalMemory& memory, std::int64_t second, View& view) {
  view.lead = lead_class(second - memory.last_second());
  for (std::size_t period = 0; period < kPeriodCount; ++period) {
    view.swing_then[period] = memory.season(period).swing_at(second);
    view.season_last[period] = memory.season(period).last_at(second);
  }
}

void SeasonalNaive::learn(const View& view, double count) {
  for (std::size_t period = 0; period < kPeriodCount; ++period) {
    if (view.season_last[period] >= 0) loss_[period].learn(loss_of(view, view.season_last[period], count));
  }
}

double SeasonalNaive::guess(const View& view) const {
  std::size_t best = kPeriodCount;
  double best_loss = 0;
  for (std::size_t period = 0; period < kPeriodCount; ++period) {
    if (view.season_last[period] < 0) continue;
    const double loss = loss_[period].with_prior(1, kLossPriorWeight);
    if (best < kPeriodCount && loss >= best_loss) continue;
    best = period;
    best_loss = loss;
  }
  if (best == kPeriodCount) return view.level[kMinuteSpan];
  return view.season_last[best];
}

double Smoothing::mean_of(const View& view, Choice choice) const {
  const double level = view.level[choice.span];
  if (choice.period == kPeriodCount) return level;
  const double swing = view.swing_then[choice.period] - view.swing_mean[choice.period][choice.span];
  const double gain = leads_[view.lead].gain[choice.span][choice.period].with_prior(0, kGainPrior);
  return std::max(0.0, level + std::clamp(gain, 0.0, 1.5) * swing);
}

void Smoothing::learn(const View& view, double count) {
  Lead& lead = leads_[view.lead];
  double best_loss = -1;
  for (std::size_t span = 0; span < kSpanCount; ++span) {
    for (std::size_t period = 0; period <= kPeriodCount; ++period) {
      const Choice choice{.span = span, .period = period};
      FadingMean<kLossMemory>& loss = lead.loss[span][period];
      loss.learn(loss_of(view, mean_of(view, choice), count));
      const double now = loss.with_prior(0, 0);
      if (best_loss >= 0 && now >= best_loss) continue;
      best_loss = now;
      lead.best = choice;
    }
    for (std::size_t period = 0; period < kPeriodCount; ++period) {
      const double unit = std::sqrt(1 + view.level[span]);
      const double swing = view.swing_then[period] - view.swing_mean[period][span];
      lead.gain[span][period].learn(swing / unit, (count - view.level[span]) / unit);
    }
  }
}

double Smoothing::guess(const View& view) const { return mean_of(view, leads_[view.lead].best); }

void Bursty::Line::learn(double now, double then) {
  constexpr double kLineFade = 1 - 1.0 / kSlopeMemory;
  weight = weight * kLineFade + 1;
  x = x * kLineFade + now;
  y = y * kLineFade + then;
  xx = xx * kLineFade + now * now;
  xy = xy * kLineFade + now * then;
}

double Bursty::Line::at(double now, double slope_prior) const {
  constexpr double kPriorWeight = 5;
  const double total = weight + kPriorWeight;
  const double x_mean = x / total;
  const double y_mean = y / total;
  const double spread = std::max(0.0, xx - x * x_mean) + 1;
  const double slope = std::clamp((xy - x * y_mean + slope_prior) / spread, 0.0, 1.0);
  return y_mean + slope * (now - x_mean);
}

Bursty::Deviation Bursty::deviation_of(const View& view, std::size_t span) const {
  const double gain = std::clamp(leads_[view.lead].swing_gain.with_prior(0, kGainPrior), 0.0, 1.0);
  const double level = view.level[kLongestSpan];
  const double mean = view.swing_mean[kDay][kLongestSpan];
  const double base_now = std::max(0.0, level + gain * (view.swing_now[kDay] - mean));
  const double base_then = std::max(0.0, level + gain * (view.swing_then[kDay] - mean));
  const double unit = level + kRateFloor;
  return {.base_then = base_then,
          .unit = unit,
          .now = (view.level[span] - base_now) / unit,
          .situation = situation_of(view.level[span], base_now)};
}

double Bursty::mean_of(const View& view, std::size_t span) const {
  const Deviation deviation = deviation_of(view, kBurstSpans[span]);
  const double slope = std::exp(-static_cast<double>(kLeads[view.lead]) / kBurstSeconds);
  const double then = leads_[view.lead].lines[span][deviation.situation].at(deviation.now, slope);
  const double highest = std::max(deviation.base_then, *std::max_element(view.level.begin(), view.level.end()));
  return std::clamp(deviation.base_then + deviation.unit * then, 0.0, kOvershoot * highest);
}

void Bursty::learn(const View& view, double count) {
  Lead& lead = leads_[view.lead];
  for (std::size_t span = 0; span < kBurstSpans.size(); ++span) {
    const Deviation deviation = deviation_of(view, kBurstSpans[span]);
    lead.loss[span].learn(loss_of(view, mean_of(view, span), count));
    lead.lines[span][deviation.situation].learn(deviation.now, (count - deviation.base_then) / deviation.unit);
  }
  const double unit = std::sqrt(1 + view.level[kLongestSpan]);
  const double swing = view.swing_then[kDay] - view.swing_mean[kDay][kLongestSpan];
  lead.swing_gain.learn(swing / unit, (count - view.level[kLongestSpan]) / unit);
}

double Bursty::guess(const View& view) const {
  const Lead& lead = leads_[view.lead];
  const std::size_t span = lead.loss[1].with_prior(1, 1) <= lead.loss[0].with_prior(1, 1) ? 1 : 0;
  return mean_of(view, span);
}

}  // namespace berth::forecast::detail
