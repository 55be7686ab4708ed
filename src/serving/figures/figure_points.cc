#include "serving/figures/figure_points.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "serving/figures/request_figures.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDay = 86'400;

/// How many of the seconds in [from, to) are in a range. Requires: sorted ranges.
std::int64_t seconds_within(const std::vector<SecondRange>& sorted, std::int64_t from, std::int64_t to) {
  std::int64_t count = 0;
  std::int64_t next = from;  // the first that is not counted yet
  for (const auto& [first, last] : sorted) {
    const std::int64_t begin = std::max(first, next);
    const std::int64_t end = std::min(last + 1, to);
    if (begin >= end) continue;
    count += end - begin;
    next = end;
  }
  return count;
}

}  // namespace

bool is_figure_step(std::int64_t step) {
  if (step < 1 || step > kDay) return false;
  return step < kMinute ? kMinute % step == 0 : step % kMinute == 0;
}

std::vector<FigurePoint> figure_points(const std::map<std::int64_t, RequestFigures>& seconds,
                                       const std::vector<SecondRange>& known, SecondRange asked,
                                       const AskedFigures& how) {
  ENSURE(is_figure_step(how.step));
  std::vector<SecondRange> sorted = known;
  std::ranges::sort(sorted);
  std::vector<FigurePoint> points;
  auto next = seconds.lower_bound(asked.first);
  for (std::int64_t from = asked.first / how.step * how.step; from <= asked.second; from += how.step) {
    if (points.size() == how.count_max) break;
    FigurePoint point{.from = from, .to = from + how.step};
    point.seconds = seconds_within(sorted, std::max(from, asked.first), std::min(point.to, asked.second + 1));
    for (; next != seconds.end() && next->first < point.to; ++next) add_after(point.figures, next->second);
    if (point.seconds > 0) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace berth::serving
