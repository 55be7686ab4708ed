/// The figures of a session: of the last minute for clients, and second by second for consumers that store them.
#pragma once

#include <cstdint>
#include <deque>
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
  /// All are borrowed. `sink` receives the figures of each second.
  SeriesFeed(const Scenario& scenario, const Catalog& catalog, const std::function<void(SeriesSpan)>& sink)
      : catalog_(catalog), sink_(sink), figures_(scenario), series_(scenario, catalog) {}

  [[nodiscard]] LiveFigures& figures() { return figures_; }
  [[nodiscard]] const LiveFigures& figures() const { return figures_; }

  /// Adds a second of a service that the world measured.
  void add(const sim::MeasuredSecond& measured);
  /// The same of a second that was measured outside.
  void add(ServiceId place, std::int64_t second, ServiceFigures figures);
  /// Emits what `add` has collected, at once.
  void flush();
  /// Emits the collected second, with the fleet's figures up to `now`.
  void give(const std::optional<FleetFigures>& fleet, Instant now, const Snapshot& snapshot);
  /// Figures of services come later than those of the fleet, which wait for them.
  void wait_for_services() { waits_ = true; }
  /// To be called when another service may take the place.
  void forget(ServiceId service);
  /// Session::restore_figures.
  void restore(const std::vector<SeriesSpan>& seconds);

 private:
  const Catalog& catalog_;
  const std::function<void(SeriesSpan)>& sink_;
  LiveFigures figures_;
  SeriesBook series_;
  bool waits_ = false;
  std::deque<SeriesSpan> fleets_;  ///< by second: they wait for the figures of services

  void emit(SeriesSpan span);
  void release_before(std::int64_t second);
};

}  // namespace berth::live
