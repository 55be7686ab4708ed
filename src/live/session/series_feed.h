/// The figures of a session: of the last minute for those who ask, and second by second for those who keep them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "live/session/catalog.h"
#include "live/session/live_figures.h"
#include "live/session/series_book.h"

namespace berth::live {

class SeriesFeed {
 public:
  /// All are borrowed. `sink` gets what each second brought.
  SeriesFeed(const Scenario& scenario, const Catalog& catalog, const std::function<void(SeriesSpan)>& sink)
      : catalog_(catalog), sink_(sink), figures_(scenario), series_(scenario, catalog) {}

  [[nodiscard]] LiveFigures& figures() { return figures_; }
  [[nodiscard]] const LiveFigures& figures() const { return figures_; }

  /// The world measured a second of a service.
  void add(const sim::MeasuredSecond& measured);
  /// Gives away the second that was collected, with what came of the fleet until `now`.
  void give(const std::optional<FleetFigures>& fleet, Instant now, const Snapshot& snapshot);
  /// Another service may take the place.
  void forget(ServiceId service);
  /// Session::restore_figures.
  void restore(const std::vector<SeriesSpan>& seconds);

 private:
  const Catalog& catalog_;
  const std::function<void(SeriesSpan)>& sink_;
  LiveFigures figures_;
  SeriesBook series_;
};

}  // namespace berth::live
