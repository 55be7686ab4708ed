#include "surface/metrics/metric_text.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <utility>
#include <variant>

#include "base/core/ensure.h"

namespace berth::metrics {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram histogram_of(const MetricHistogram& values) {
  ENSURE(values.counts.size() == values.bounds.size() + 1);
  prometheus::ClientMetric::Histogram histogram{.sample_count = 0, .sample_sum = values.sum, .bucket = {}};
  for (std::size_t i = 0; i < values.counts.size(); ++i) {
    histogram.sample_count += values.counts[i];
    const double bound = i < values.bounds.size() ? values.bounds[i] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({.cumulative_count = histogram.sample_count, .upper_bound = bound});
  }
  return histogram;
}

prometheus::ClientMetric sample_of(MetricKind kind, const MetricSample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({.name = name, .value = value});
  ENSURE(std::holds_alternative<MetricHistogram>(sample.value) == (kind == MetricKind::kHistogram));
  switch (kind) {
    case MetricKind::kCounter:
      metric.counter.value = std::get<double>(sample.value);
      break;
    case MetricKind::kGauge:
      metric.gauge.value = std::get<double>(sample.value);
      break;
    case MetricKind::kHistogram:
      metric.histogram = histogram_of(std::get<MetricHistogram>(sample.value));
      break;
  }
  return metric;
}

}  // namespace

std::string metric_text(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> shown;
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    shown.push_back({.name = family.name, .help = family.help, .type = type_of(family.kind), .metric = {}});
    for (const MetricSample& sample : family.samples) shown.back().metric.push_back(sample_of(family.kind, sample));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, shown);
  return std::move(text).str();
}

}  // namespace berth::metrics
