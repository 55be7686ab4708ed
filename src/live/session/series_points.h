/// The points of a graph of a world's past: its series in steps, from the seconds that are still kept, else from
/// minutes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/ports/series_store.h"
#include "domain/values/series.h"
#include "live/session/series_minutes.h"

namespace berth::live {

struct SeriesPoint {
  std::int64_t from = 0;  ///< a second of the world
  std::int64_t to = 0;    ///< exclusive
  std::optional<ServiceFigures> figures = std::nullopt;
  std::optional<FleetFigures> fleet = std::nullopt;
  friend bool operator==(const SeriesPoint&, const SeriesPoint&) = default;
};

struct AskedPoints {
  std::uint64_t service = kAllServices;  ///< kAllServices: with the fleet
  std::int64_t from = 0;                 ///< points that overlap [from, to)
  std::int64_t to = 0;
  std::int64_t step = kSeriesMinute;  ///< seconds of a point; see is_series_step
};

/// Points begin at multiples of the step from second 0, so a step divides a minute, or is a number of minutes up to a
/// day.
[[nodiscard]] bool is_series_step(std::int64_t step);

/// The first points, at most `count_max`; those of which nothing is known are left out. Where the seconds are no longer
/// kept, points of a shorter step cover a minute. Requires: is_series_step, count_max > 0.
[[nodiscard]] StoreResult<std::vector<SeriesPoint>> read_points(SeriesReader& reader, const AskedPoints& asked,
                                                                std::size_t count_max);

}  // namespace berth::live
