#include "live/session/series_minutes.h"

#include <utility>

namespace berth::live {

std::optional<SeriesSpan> SeriesMinutes::add(const SeriesSpan& second) {
  const std::int64_t minute = second.second - second.second % kSeriesMinute;
  std::optional<SeriesSpan> before;
  if (minute_ && *minute_ != minute) {
    before = SeriesSpan{.second = *minute_, .fleet = std::exchange(fleet_, std::nullopt)};
    for (auto& [service, sum] : services_) before->services.push_back(std::move(sum));
    services_.clear();
  }
  minute_ = minute;
  for (const ServiceFigures& each : second.services) {
    ServiceFigures coarser = each;
    coarser.latencies = coarser_buckets(each.latencies);
    coarser.settled.clear();
    const auto [sum, is_first] = services_.try_emplace(each.service, coarser);
    if (!is_first) add_figures(sum->second, coarser);
  }
  if (second.fleet && fleet_) {
    add_figures(*fleet_, *second.fleet);
  } else if (second.fleet) {
    fleet_ = second.fleet;
  }
  return before;
}

}  // namespace berth::live
