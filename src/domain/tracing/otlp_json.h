/// What is sent to a collector: OTLP 1.x over HTTP, as JSON. Ids are hexadecimal, enums are numbers, and integers of 64
/// bits are texts, as its specification says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/tracing/span.h"
#include "domain/values/metric.h"

namespace berth {

/// Who sends it: attributes of the resource, and the version of this program.
struct OtlpSender {
  std::vector<std::pair<std::string, std::string>> resource;
  std::string version;
};

/// An ExportTraceServiceRequest. Requires: at least one span; collectors need not take an empty envelope.
[[nodiscard]] std::string otlp_traces(const OtlpSender& sender, std::span<const Span> spans);

/// An ExportMetricsServiceRequest: gauges, and sums and histograms that grow since `begin_us`. Empty if no family has a
/// sample. Times are wall time in microseconds since 1970.
[[nodiscard]] std::string otlp_metrics(const OtlpSender& sender, std::span<const MetricFamily> families,
                                       std::int64_t begin_us, std::int64_t now_us);

/// How many items a collector refused of a request that it took, and its reason. Nothing: its answer says nothing of
/// the sort, or is not JSON. `name` is that of the count: "rejectedSpans", "rejectedDataPoints".
struct PartialSuccess {
  std::int64_t rejected = 0;
  std::string message;

  friend bool operator==(const PartialSuccess&, const PartialSuccess&) = default;
};
[[nodiscard]] std::optional<PartialSuccess> partial_success_of(std::string_view body, std::string_view name);

/// The number of data points of the families: what is counted of metrics.
[[nodiscard]] std::int64_t point_count(std::span<const MetricFamily> families);

}  // namespace berth
