/// The series of a `berth up`: the file `series.db` in its folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "edges/live_driver/series_queue.h"
#include "live/folder/up_request.h"

namespace berth::up {

/// The maximum size of the file, unless an eighth of its file system is less.
inline constexpr std::uint64_t kSeriesBytesMax = std::uint64_t{256} << 20U;

/// `world_epoch_us`: the wall time of the world's second 0, in microseconds since 1970. `report`: as
/// edges::SeriesQueueOptions::report.
[[nodiscard]] edges::SeriesQueueOptions series_options(
    const std::string& folder, std::int64_t world_epoch_us,
    std::function<void(const std::string& event, const std::string& message)> report);

/// How long they are kept, in seconds of the world.
[[nodiscard]] inline std::int64_t series_seconds(const live::Retention& retention) {
  constexpr std::int64_t kDaySeconds = std::int64_t{24} * 3600;
  return retention.series_days * kDaySeconds;
}

}  // namespace berth::up
