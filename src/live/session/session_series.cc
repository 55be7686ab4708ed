/// The figures of a session: what it gives away second by second, and how they go on after a restart.
#include <algorithm>
#include <map>
#include <utility>

#include "live/session/session.h"

namespace berth::live {

void Session::note_measured(const sim::MeasuredSecond& measured) {
  const ServiceId place = measured.seen.service;
  const std::int64_t second = measured.seen.second;
  ServiceFigures figures = figures_of(measured);
  figures_.add(place, second, figures);
  if (!options_.series) return;
  if (auto before = series_.add(place, second, std::move(figures))) options_.series(std::move(*before));
}

void Session::give_series(const std::optional<FleetFigures>& fleet) {
  auto span = series_.take();
  if (fleet) {
    const std::int64_t second = (now() - Micros(1)).second();
    if (span && span->second != second) options_.series(*std::exchange(span, std::nullopt));
    if (!span) span = SeriesSpan{.second = second};
    span->fleet = fleet;
    span->fleet->lost_gpus_max = std::ranges::count(snapshot().gpus, GpuHealth::kLost, &GpuState::health);
  }
  if (span) options_.series(std::move(*span));
}

void Session::restore_figures(const std::vector<SeriesSpan>& seconds) {
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
