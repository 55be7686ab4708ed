/// The metrics of a running `berth up`: what is counted while it runs, and the families of a scrape.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "domain/values/metric.h"
#include "domain/values/scenario.h"
#include "surface/up_metrics/metrics_book.h"
#include "surface/up_metrics/up_families.h"

namespace berth::up {

struct UpParts;

struct UpMetrics {
  UpMetrics(const Scenario& scenario, bool knows_load, std::size_t series_max);
  UpMetrics(const UpMetrics&) = delete;
  UpMetrics& operator=(const UpMetrics&) = delete;

  metrics::SeriesShares shares;
  Scenario fleet;                ///< as it was at the start
  metrics::MetricsBook book;     ///< under the session's lock
  std::mutex scrape;             ///< held for a whole scrape; taken before the session's lock
  metrics::UpFamilies families;  ///< under `scrape`
};

/// The families of a scrape at this moment. May be called by any thread once the server runs, without locks; holds the
/// session's lock while the session is read, and makes the families without it.
[[nodiscard]] std::vector<MetricFamily> read_metrics(UpParts& parts);

}  // namespace berth::up
