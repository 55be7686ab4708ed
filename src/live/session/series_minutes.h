/// Sums the seconds of a world's series to minutes, which take less space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "domain/values/series.h"

namespace berth::live {

/// Seconds of a minute of a series; minutes begin at multiples of it.
inline constexpr std::int64_t kSeriesMinute = 60;

class SeriesMinutes {
 public:
  /// Seconds come in order; some may be missing. Returns the previous minute if this second begins a later one: sums,
  /// with coarser latencies. O(services x buckets).
  [[nodiscard]] std::optional<SeriesSpan> add(const SeriesSpan& second);

 private:
  std::optional<std::int64_t> minute_;  ///< its first second
  std::map<std::uint64_t, ServiceFigures> services_;
  std::optional<FleetFigures> fleet_;
};

}  // namespace berth::live
