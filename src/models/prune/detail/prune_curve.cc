#include "models/prune/detail/prune_curve.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

// Errors below it are rounding: they have no ratio to each other.
constexpr double kErrorMin = 1e-12;

}  // namespace

PruneCurve::PruneCurve(std::int64_t channels, std::vector<GroupTrial> trials, const std::vector<ChannelStep>& order)
    : channels_(channels), errors_{0.0} {
  ENSURE(!trials.empty() && static_cast<std::int64_t>(order.size()) == channels);
  for (const ChannelStep& step : order) errors_.push_back(step.error);
  double time_ratio = 1;
  for (const GroupTrial& trial : trials) {
    time_ratio = std::min(time_ratio, trial.time_ratio);
    // The loss is coarse, and noise may come from the rows that the weights were fitted to.
    const double damage = std::max(trial.noise + std::max(trial.loss, 0.0), kErrorMin);
    points_.push_back({trial.kept, time_ratio, damage / estimate(trial.kept)});
  }
}

double PruneCurve::time_ratio(std::int64_t kept) const {
  std::int64_t kept_above = channels_;
  double above = 1;
  for (const Point& point : points_) {
    if (kept >= point.kept) {
      const double share = static_cast<double>(kept_above - kept) / static_cast<double>(kept_above - point.kept);
      return above + (point.time_ratio - above) * std::clamp(share, 0.0, 1.0);
    }
    kept_above = point.kept;
    above = point.time_ratio;
  }
  return above;
}

double PruneCurve::damage(std::int64_t kept) const {
  if (kept >= channels_) return 0;
  const auto below = std::ranges::find_if(points_, [&](const Point& point) { return point.kept <= kept; });
  if (below == points_.begin()) return estimate(kept) * points_.front().factor;
  if (below == points_.end()) return estimate(kept) * points_.back().factor;
  const Point& above = *(below - 1);
  const double share = static_cast<double>(above.kept - kept) / static_cast<double>(above.kept - below->kept);
  return estimate(kept) * std::exp(std::log(above.factor) * (1 - share) + std::log(below->factor) * share);
}

double PruneCurve::estimate(std::int64_t kept) const {
  return std::max(errors_[static_cast<std::size_t>(channels_ - kept)], kErrorMin);
}

}  // namespace berth::models
