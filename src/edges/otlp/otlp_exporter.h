/// Sends spans and metrics to a collector, from a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/core/instant.h"
#include "base/core/rng.h"
#include "domain/ports/http_client.h"
#include "domain/tracing/otel_options.h"
#include "domain/tracing/otlp_json.h"
#include "domain/tracing/recorder.h"
#include "domain/values/metric.h"
#include "edges/otlp/delivery.h"
#include "edges/otlp/span_source.h"

namespace berth::edges {

/// Spans that may wait, including those that are being sent.
inline constexpr std::size_t kSpansWaitingMax = 2048;

struct OtlpExporterOptions {
  OtelOptions otel = {};  ///< not off
  std::string version = {};
  bool limits_callers = false;                        ///< SpanSourceOptions
  std::function<std::int64_t()> now_us = {};          ///< SpanRecorder::now_us
  std::function<void(const std::string&)> warn = {};  ///< once for each outage; called by the exporter's thread
  Micros metrics_interval = Micros::seconds(15);
  Micros linger = Micros::seconds(1);     ///< a span waits so long for others, unless a whole batch is there
  Micros timeout = Micros::seconds(10);   ///< of a request
  Micros patience = Micros::seconds(60);  ///< spans that could not be sent for so long are dropped
  Micros stop_time = Micros(1'800'000);   ///< what `stop` may take, but for the last tenths of a second
};

class OtlpExporter {
 public:
  /// `client` is borrowed, and used by the exporter's thread alone. Requires: all functions of the options are set.
  OtlpExporter(OtlpExporterOptions options, const HttpClient& client);
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;
  ~OtlpExporter() { stop(); }

  /// Spans that were made before wait for it. `metrics`: all metrics; called by the exporter's thread; empty: none.
  void start(std::function<std::vector<MetricFamily>()> metrics = {});
  /// Sends what waits, for at most 2 s, and ends the thread; what is left then is dropped. A second call does nothing.
  void stop();

  /// Its functions may be called until this object is destroyed; empty if no spans are sent.
  [[nodiscard]] SpanRecorder recorder();
  [[nodiscard]] OtlpCounts span_counts() const;
  /// Of data points.
  [[nodiscard]] OtlpCounts metric_counts() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Hold = std::unique_lock<std::mutex>;

  /// Spans that are being sent, or wait to be sent again.
  struct Batch {
    std::vector<Span> spans;
    std::string body;
    Clock::time_point first_try;
    int try_count = 0;
  };

  void add(Span span);
  void run();
  /// When there is something to do; max: nothing is known of.
  [[nodiscard]] Clock::time_point due_at() const;
  [[nodiscard]] Clock::time_point spans_due_at() const;
  [[nodiscard]] bool has_spans() const { return batch_.has_value() || !waiting_.empty(); }
  void send_spans(Hold& hold);
  void take_batch();
  void settle(const Delivery& delivery);
  void send_metrics(Hold& hold);
  [[nodiscard]] Result<HttpReply> post(const std::string& url, const std::string& body) const;
  void warn_once(const Delivery& delivery, bool& is_warned, std::string_view of_what);
  void drop_all();

  const OtlpExporterOptions options_;
  const HttpClient& client_;
  const OtlpSender sender_;
  SpanSource source_;
  const std::int64_t began_us_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  // Under lock_:
  std::vector<Span> waiting_;
  Clock::time_point oldest_at_;  ///< when the first of `waiting_` came
  std::optional<Batch> batch_;
  Clock::time_point not_before_;  ///< of the next request with spans
  Clock::time_point metrics_at_;
  OtlpCounts spans_;
  OtlpCounts points_;
  std::optional<Clock::time_point> stop_at_;
  // Of the thread:
  std::function<std::vector<MetricFamily>()> metrics_;
  Rng rng_;
  bool is_warned_of_spans_ = false;
  bool is_warned_of_metrics_ = false;
  std::thread thread_;
};

}  // namespace berth::edges
