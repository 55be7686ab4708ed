/// The families of a scrape of `berth up`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/metric.h"
#include "domain/values/scenario.h"
#include "ledger/usage/cost_shares.h"
#include "surface/up_metrics/metric_table.h"
#include "surface/up_metrics/metrics_view.h"
#include "surface/up_metrics/series_budget.h"

namespace berth::metrics {

/// What the system says about the process.
struct OwnProcess {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double start_seconds = 0;  ///< since 1970
  double open_files = 0;
  std::optional<double> max_files = std::nullopt;
};

/// Items that were made for a collector.
struct OtlpCount {
  std::string signal;   ///< "traces", "metrics"
  std::string outcome;  ///< "made", "sent", "refused", "dropped"
  std::int64_t items = 0;
};

/// What the parts of the process count themselves.
struct ProcessFigures {
  std::string version = {};
  bool is_read_only = false;
  MetricHistogram steps = {};
  MetricHistogram commits = {};
  MetricHistogram solves = {};
  std::vector<MetricSample> http = {};  ///< of Metric::kHttpRequest
  std::vector<OtlpCount> otlp = {};
  std::optional<OwnProcess> process = std::nullopt;
};

/// Of the series that a scrape may have, how many each part gets.
struct SeriesShares {
  std::size_t http = 0;
  std::size_t fleet = 0;  ///< gpus and slices
  std::size_t services = 0;

  /// Of `series_max`, at least live::kSeriesMaxLeast. Families that do not grow and the sums of the rest come first.
  [[nodiscard]] static SeriesShares of(std::size_t series_max, const Scenario& fleet);
};

/// Makes families. Not for concurrent use: it remembers which label sets are listed, and how layouts are paid for.
class UpFamilies {
 public:
  /// `scenario`: its fleet counts. `knows_load`: services get simulated requests.
  UpFamilies(const Scenario& scenario, bool knows_load, std::size_t fleet_series_max);
  UpFamilies(const UpFamilies&) = delete;  // a part of it refers to another
  UpFamilies& operator=(const UpFamilies&) = delete;

  [[nodiscard]] std::vector<MetricFamily> make(const MetricsView& view, const ProcessFigures& process);

 private:
  void put_gpus(FamilySet& out, const MetricsView& view);
  void put_slices(FamilySet& out, const MetricsView& view);
  void put_time(FamilySet& out, const MetricsView& view) const;
  void put_cost(FamilySet& out, const MetricsView& view);
  void put_services(FamilySet& out, const MetricsView& view) const;
  /// Adds a sample of the fleet, or to the sum of those that are not listed.
  void put_limited(FamilySet& out, Metric metric, std::vector<std::string> labels, double value, double& rest);

  Scenario scenario_;  ///< the fleet; its services are those of the view
  bool knows_load_;
  SeriesBudget fleet_budget_;
  ListedKeys<std::pair<Metric, std::vector<std::string>>> fleet_labels_;
  ledger::CostShares costs_;
};

}  // namespace berth::metrics
