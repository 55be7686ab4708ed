/// The exporter of a program, as the variables `OTEL_*` of its environment want it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/tracing/otel_options.h"
#include "domain/tracing/recorder.h"
#include "domain/values/metric.h"
#include "edges/http_client/curl_connection.h"
#include "edges/otlp/otlp_exporter.h"

namespace berth::edges {

/// The variables of this process.
[[nodiscard]] Environment process_environment();

struct TelemetryOptions {
  std::string service_name;                           ///< unless the environment names it
  std::string version;                                ///< of this program
  bool limits_callers = false;                        ///< SpanSourceOptions
  std::function<void(const std::string&)> warn = {};  ///< any thread may call it
};

class Telemetry {
 public:
  /// Null: the environment wants nothing. Error: the address of the collector is bad. To be called before other threads
  /// start. Bad values of other variables are warnings, given at once.
  [[nodiscard]] static Result<std::unique_ptr<Telemetry>> open(const Environment& environment,
                                                               TelemetryOptions options);

  /// OtlpExporter::recorder.
  [[nodiscard]] SpanRecorder recorder() { return exporter_.recorder(); }
  /// Begins to send. `metrics`: OtlpExporter::start.
  void start(std::function<std::vector<MetricFamily>()> metrics = {}) { exporter_.start(std::move(metrics)); }
  /// OtlpExporter::stop.
  void stop() { exporter_.stop(); }
  [[nodiscard]] OtlpCounts span_counts() const { return exporter_.span_counts(); }
  [[nodiscard]] OtlpCounts metric_counts() const { return exporter_.metric_counts(); }

  Telemetry(OtelOptions otel, TelemetryOptions options);
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

 private:
  CurlConnection client_;
  OtlpExporter exporter_;
};

}  // namespace berth::edges
