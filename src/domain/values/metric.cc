#include "domain/values/metric.h"

#include <algorithm>

namespace berth {

MetricHistogram empty_histogram(std::vector<double> bounds) {
  MetricHistogram histogram{.bounds = std::move(bounds), .counts = {}};
  histogram.counts.resize(histogram.bounds.size() + 1);
  return histogram;
}

void observe(MetricHistogram& histogram, double value) {
  const auto bound = std::ranges::lower_bound(histogram.bounds, value);
  ++histogram.counts[static_cast<std::size_t>(bound - histogram.bounds.begin())];
  histogram.sum += value;
}

MetricHistogram empty_times() {
  return empty_histogram({0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60});
}

}  // namespace berth
