#include "live/session/series_feed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "domain/values/snapshot.h"
#include "sim/world/service_meter.h"

namespace berth::live {

void SeriesFeed::add(const sim::MeasuredSecond& measured) {
  const ServiceId place = measured.seen.service;
  const std::int64_t second = measured.seen.second;
  ServiceFigures figures = figures_of(measured);
  figures_.add(place, second, figures);
  if (auto before = series_.add(place, second, std::move(figures))) sink_(std::move(*before));
}

void SeriesFeed::give(const std::optional<FleetFigures>& fleet, Instant now, const Snapshot& snapshot) {
  auto span = series_.take();
  if (fleet) {
    const std::int64_t second = (now - Micros(1)).second();
    if (span && span->second != second) sink_(*std::exchange(span, std::nullopt));
    if (!span) span = SeriesSpan{.second = second};
    span->fleet = fleet;
    span->fleet->lost_gpus_max = std::ranges::count(snapshot.gpus, GpuHealth::kLost, &GpuState::health);
  }
  if (span) sink_(std::move(*span));
}

void SeriesFeed::forget(ServiceId service) {
  figures_.forget(service);
  series_.forget(service);
}

void SeriesFeed::restore(const std::vector<SeriesSpan>& seconds) {
  std::map<std::uint64_t, ServiceId> places;
  for (const auto& [name, service] : catalog_.services) places.emplace(service.meta.number, service.id);
  for (const SeriesSpan& span : seconds) {
    for (const ServiceFigures& each : span.services) {
      const auto place = places.find(each.service);
      if (place != places.end()) figures_.restore(place->second, span.second, each);
    }
    if (span.fleet) figures_.restore(span.second, *span.fleet);
  }
}

}  // namespace berth::live
