#include "live/session/series_feed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "domain/values/snapshot.h"
#include "sim/world/service_meter.h"

namespace berth::live {

void SeriesFeed::add(const sim::MeasuredSecond& measured) {
  add(measured.seen.service, measured.seen.second, figures_of(measured));
}

void SeriesFeed::add(ServiceId place, std::int64_t second, ServiceFigures figures) {
  figures_.add(place, second, figures);
  if (auto before = series_.add(place, second, std::move(figures))) emit(std::move(*before));
  release_before(second);
}

void SeriesFeed::flush() {
  if (auto span = series_.take()) emit(std::move(*span));
}

void SeriesFeed::emit(SeriesSpan span) {
  release_before(span.second);
  if (!fleets_.empty() && fleets_.front().second == span.second) {
    span.fleet = fleets_.front().fleet;
    fleets_.pop_front();
  }
  sink_(std::move(span));
}

void SeriesFeed::release_before(std::int64_t second) {
  for (; !fleets_.empty() && fleets_.front().second < second; fleets_.pop_front()) sink_(fleets_.front());
}

void SeriesFeed::give(const std::optional<FleetFigures>& fleet, Instant now, const Snapshot& snapshot) {
  auto span = series_.take();
  if (waits_) {
    constexpr std::int64_t kPatienceSeconds = 20;
    const std::int64_t ended = (now - Micros(1)).second();
    if (fleet) {
      fleets_.push_back({.second = ended, .fleet = fleet});
      fleets_.back().fleet->lost_gpus_max = std::ranges::count(snapshot.gpus, GpuHealth::kLost, &GpuState::health);
    }
    if (span) emit(std::move(*span));
    // At the end of the world nothing follows.
    return release_before(fleet ? ended - kPatienceSeconds : ended + 1);
  }
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
