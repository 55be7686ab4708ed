#include "apps/up/up_metrics.h"

#include <optional>
#include <utility>

#include "apps/up/up_parts.h"
#include "edges/live_driver/live_driver.h"
#include "edges/otlp/telemetry.h"
#include "edges/own_process/own_process.h"
#include "live/session/session.h"
#include "surface/api/api.h"
#include "surface/up_metrics/metrics_view.h"

namespace berth::up {
namespace {

std::optional<metrics::OwnProcess> own_process() {
  const auto own = edges::read_own_process();
  if (!own) return std::nullopt;
  return metrics::OwnProcess{.cpu_seconds = own->cpu_seconds,
                             .resident_bytes = own->resident_bytes,
                             .virtual_bytes = own->virtual_bytes,
                             .start_seconds = own->start_seconds,
                             .open_files = own->open_files,
                             .max_files = own->max_files};
}

/// Null: nothing is sent.
std::vector<metrics::OtlpCount> otlp_counts(const edges::Telemetry* telemetry) {
  std::vector<metrics::OtlpCount> all;
  if (telemetry == nullptr) return all;
  const auto add = [&](const char* signal, const edges::OtlpCounts& counts) {
    all.push_back({.signal = signal, .outcome = "made", .items = counts.made});
    all.push_back({.signal = signal, .outcome = "sent", .items = counts.sent});
    all.push_back({.signal = signal, .outcome = "refused", .items = counts.refused});
    all.push_back({.signal = signal, .outcome = "dropped", .items = counts.dropped});
  };
  add("traces", telemetry->span_counts());
  add("metrics", telemetry->metric_counts());
  return all;
}

metrics::ProcessFigures process_figures(const UpParts& parts) {
  return {.version = parts.outside.version,
          .is_read_only = parts.recorder().failure().has_value(),
          .steps = parts.driver->step_histogram(),
          .commits = parts.recorder().commit_histogram(),
          .solves = parts.solver.solve_histogram(),
          .http = parts.api->request_times(),
          .otlp = otlp_counts(parts.telemetry),
          .process = own_process()};
}

metrics::MetricsView read_view(UpParts& parts) {
  const std::scoped_lock hold(parts.lock);
  return metrics::read_metrics_view(*parts.session, parts.metrics->book);
}

Scenario only_fleet(const Scenario& scenario) {
  Scenario fleet;
  fleet.fleet = scenario.fleet;
  return fleet;
}

}  // namespace

UpMetrics::UpMetrics(const Scenario& scenario, bool knows_load, std::size_t series_max)
    : shares(metrics::SeriesShares::of(series_max, scenario)),
      fleet(only_fleet(scenario)),
      book(fleet, metrics::SeriesBudget(shares.services)),
      families(fleet, knows_load, shares.fleet) {}

std::vector<MetricFamily> read_metrics(UpParts& parts) {
  const std::scoped_lock scrape(parts.metrics->scrape);
  const metrics::MetricsView view = read_view(parts);
  return parts.metrics->families.make(view, process_figures(parts));
}

}  // namespace berth::up
