#include "tier/estimate/detail/known_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

double median_factor(std::vector<double> values) {
  if (values.empty()) return 1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double log_ratio(int above, int below) { return std::log(static_cast<double>(above) / static_cast<double>(below)); }

}  // namespace

KnownCurve::KnownCurve(std::span<const TierPoint> points) {
  ENSURE(!points.empty());
  std::vector<double> factors;
  for (const TierPoint& point : points) {
    const double per_second = point.samples_per_second.to_double();
    const double latency_ms = point.latency_ms.to_double();
    points_.push_back({.size = {.batch = point.batch, .processes = point.processes}, .per_second = per_second});
    const double rows = static_cast<double>(point.batch) * point.processes;
    if (latency_ms > 0) factors.push_back(latency_ms * per_second / (1000 * rows));
  }
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tuple(a.size.processes, a.size.batch) < std::tuple(b.size.processes, b.size.batch);
  });
  latency_factor_ = median_factor(std::move(factors));
}

std::span<const KnownCurve::Point> KnownCurve::of_processes(int processes) const {
  int taken = points_.front().size.processes;
  for (const Point& point : points_) {
    if (point.size.processes <= processes) taken = point.size.processes;
  }
  const auto is_before = [](const Point& point, int count) { return point.size.processes < count; };
  const auto first = std::lower_bound(points_.begin(), points_.end(), taken, is_before);
  const auto last = std::lower_bound(first, points_.end(), taken + 1, is_before);
  return {first, last};
}

double KnownCurve::per_second(WorkSize size) const {
  const std::span<const Point> points = of_processes(size.processes);
  const auto next =
      std::find_if(points.begin(), points.end(), [&](const Point& p) { return p.size.batch >= size.batch; });
  if (next == points.end()) return points.back().per_second;
  if (next->size.batch == size.batch) return next->per_second;
  if (next == points.begin()) return next->per_second * size.batch / next->size.batch;
  const Point& before = *(next - 1);
  const double part = log_ratio(size.batch, before.size.batch) / log_ratio(next->size.batch, before.size.batch);
  return before.per_second * std::pow(next->per_second / before.per_second, part);
}

double KnownCurve::slope(WorkSize size) const {
  const std::span<const Point> points = of_processes(size.processes);
  const double here = per_second(size);
  const Point* before = nullptr;
  const Point* after = nullptr;
  for (const Point& point : points) {
    if (point.size.batch < size.batch) before = &point;
    if (point.size.batch > size.batch && after == nullptr) after = &point;
  }
  if (before != nullptr) return std::log(here / before->per_second) / log_ratio(size.batch, before->size.batch);
  if (after != nullptr) return std::log(after->per_second / here) / log_ratio(after->size.batch, size.batch);
  return kNoValue;
}

double KnownCurve::saturation(WorkSize size) const {
  const std::span<const Point> points = of_processes(size.processes);
  if (points.size() < 2) return kNoValue;
  double most = 0;
  for (const Point& point : points) most = std::max(most, point.per_second);
  return std::log(per_second(size) / most);
}

double KnownCurve::headroom(WorkSize size) const {
  return log_ratio(of_processes(size.processes).back().size.batch, size.batch);
}

double KnownCurve::rows_max() const {
  double most = 0;
  for (const Point& point : points_) {
    most = std::max(most, static_cast<double>(point.size.batch) * point.size.processes);
  }
  return most;
}

std::vector<WorkSize> KnownCurve::sizes() const {
  std::vector<WorkSize> sizes;
  sizes.reserve(points_.size());
  for (const Point& point : points_) sizes.push_back(point.size);
  return sizes;
}

WorkSize KnownCurve::best() const {
  return std::max_element(points_.begin(), points_.end(),
                          [](const Point& a, const Point& b) { return a.per_second < b.per_second; })
      ->size;
}

}  // namespace berth::tier
