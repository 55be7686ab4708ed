#include "live/session/series_points.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::live {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
/// Rows in memory at a time.
constexpr std::int64_t kRowsAtATime = 5'000;

std::int64_t floor_to(std::int64_t second, std::int64_t step) { return second / step * step; }
std::int64_t ceil_to(std::int64_t second, std::int64_t step) { return (second + step - 1) / step * step; }

/// A span that is read from one ring.
struct Part {
  SeriesRing ring = SeriesRing::kSeconds;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t step = 1;
};

/// Minutes up to a boundary, seconds after it.
StoreResult<std::vector<Part>> parts_of(SeriesReader& reader, const AskedPoints& asked) {
  const auto seconds = reader.range(SeriesRing::kSeconds);
  if (!seconds) return tl::unexpected(seconds.error());
  const auto minutes = reader.range(SeriesRing::kMinutes);
  if (!minutes) return tl::unexpected(minutes.error());
  const bool is_coarse = asked.step >= kSeriesMinute;
  const std::int64_t minutes_end = *minutes ? (*minutes)->last + kSeriesMinute : 0;
  const std::int64_t seconds_begin = *seconds ? ceil_to((*seconds)->first, kSeriesMinute) : minutes_end;
  const std::int64_t boundary = is_coarse ? minutes_end : seconds_begin;
  const std::int64_t step_before = std::max(asked.step, kSeriesMinute);
  std::vector<Part> parts;
  if (*minutes && floor_to(asked.from, step_before) < boundary) {
    parts.push_back({.ring = SeriesRing::kMinutes,
                     .from = std::max(floor_to(asked.from, step_before), floor_to((*minutes)->first, step_before)),
                     .to = std::min(ceil_to(asked.to, step_before), boundary),
                     .step = step_before});
  }
  if (*seconds) {
    const std::int64_t first = floor_to(std::max(asked.from, (*seconds)->first), asked.step);
    parts.push_back({.ring = SeriesRing::kSeconds,
                     .from = std::max(first, *minutes ? boundary : first),
                     .to = std::min(ceil_to(asked.to, asked.step), (*seconds)->last + 1),
                     .step = asked.step});
  }
  return parts;
}

void add_span(const SeriesSpan& span, std::int64_t step, std::vector<SeriesPoint>& points) {
  const std::int64_t from = floor_to(span.second, step);
  if (points.empty() || points.back().from != from) points.push_back({.from = from, .to = from + step});
  SeriesPoint& point = points.back();
  for (const ServiceFigures& each : span.services) {
    if (point.figures) {
      add_figures(*point.figures, each);
    } else {
      point.figures = each;
      point.figures->settled.clear();
    }
  }
  if (!span.fleet) return;
  if (point.fleet) {
    add_figures(*point.fleet, *span.fleet);
  } else {
    point.fleet = span.fleet;
  }
}

}  // namespace

bool is_series_step(std::int64_t step) {
  if (step < 1 || step > kDaySeconds) return false;
  return step < kSeriesMinute ? kSeriesMinute % step == 0 : step % kSeriesMinute == 0;
}

StoreResult<std::vector<SeriesPoint>> read_points(SeriesReader& reader, const AskedPoints& asked,
                                                  std::size_t count_max) {
  ENSURE(is_series_step(asked.step) && count_max > 0);
  const auto parts = parts_of(
      reader,
      {.service = asked.service, .from = std::max<std::int64_t>(0, asked.from), .to = asked.to, .step = asked.step});
  if (!parts) return tl::unexpected(parts.error());
  std::vector<SeriesPoint> points;
  for (const Part& part : *parts) {
    const std::int64_t row_seconds = part.ring == SeriesRing::kSeconds ? 1 : kSeriesMinute;
    for (std::int64_t from = part.from; from < part.to; from += kRowsAtATime * row_seconds) {
      const std::int64_t to = std::min(part.to, from + kRowsAtATime * row_seconds);
      const auto spans = reader.read({.ring = part.ring, .from = from, .to = to, .service = asked.service});
      if (!spans) return tl::unexpected(spans.error());
      for (const SeriesSpan& span : *spans) {
        add_span(span, part.step, points);
        if (points.size() <= count_max) continue;
        points.pop_back();
        return points;
      }
    }
  }
  return points;
}

}  // namespace berth::live
