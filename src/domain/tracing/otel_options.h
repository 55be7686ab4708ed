/// What the environment says about OpenTelemetry: the variables `OTEL_*`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_message.h"
#include "domain/tracing/sampling.h"

namespace berth {

/// The value of a variable of the environment; nothing: it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// Metrics are sent at most so often.
inline constexpr std::int64_t kOtelIntervalMinMs = 100;

struct OtelOptions {
  std::string traces_url = {};   ///< empty: no spans are sent
  std::string metrics_url = {};  ///< empty: no metrics are sent
  std::vector<HttpField> headers = {};
  /// Of the resource, by name: at least `service.name`.
  std::vector<std::pair<std::string, std::string>> resource = {};
  Sampler sampler = {};
  std::int64_t metrics_interval_ms = 15'000;  ///< from kOtelIntervalMinMs to a day

  [[nodiscard]] bool is_off() const { return traces_url.empty() && metrics_url.empty(); }
};

struct OtelReading {
  OtelOptions options;
  std::vector<std::string> warnings;  ///< of values that are not used; each names its variable
};

/// Reads OTEL_EXPORTER_OTLP_ENDPOINT (none, or empty: everything is off), _HEADERS, _PROTOCOL, OTEL_SERVICE_NAME,
/// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, _ARG, OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER,
/// OTEL_METRIC_EXPORT_INTERVAL and OTEL_SDK_DISABLED. An empty value is none. A bad value gives a warning, and the
/// default is used; values are never in warnings of headers, as they may be secret. A protocol other than http/json: a
/// warning, and everything is off.
///
/// Error: the endpoint is no URL of http or https with a host. `service_name`: what this program is called by default.
[[nodiscard]] Result<OtelReading> read_otel_options(const Environment& environment, std::string_view service_name);

}  // namespace berth
