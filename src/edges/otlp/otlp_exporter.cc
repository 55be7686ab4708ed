#include "edges/otlp/otlp_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::edges {
namespace {

constexpr std::size_t kBatchMax = 512;

std::chrono::microseconds chrono_of(Micros time) { return std::chrono::microseconds(time.count()); }

}  // namespace

OtlpExporter::OtlpExporter(OtlpExporterOptions options, const HttpClient& client)
    : options_(std::move(options)),
      client_(client),
      sender_{.resource = options_.otel.resource, .version = options_.version},
      source_({.sampler = options_.otel.sampler,
               .limits_callers = options_.limits_callers,
               .now_us = options_.now_us,
               .seed = random_seed()}),
      began_us_(options_.now_us()),
      rng_(random_seed()) {}

void OtlpExporter::start(std::function<std::vector<MetricFamily>()> metrics) {
  metrics_ = std::move(metrics);
  const bool has_metrics = metrics_ && !options_.otel.metrics_url.empty();
  metrics_at_ = has_metrics ? Clock::now() + chrono_of(options_.metrics_interval) : Clock::time_point::max();
  thread_ = std::thread([this] { run(); });
}

void OtlpExporter::stop() {
  {
    const std::scoped_lock hold(lock_);
    if (!stop_at_) stop_at_ = Clock::now() + chrono_of(options_.stop_time);
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

SpanRecorder OtlpExporter::recorder() {
  if (options_.otel.traces_url.empty()) return {};
  return {.begin = [this](const std::optional<TraceContext>& parent,
                          bool is_new_allowed) { return source_.begin(parent, is_new_allowed); },
          .next_id = [this] { return source_.next_id(); },
          .end = [this](Span span) { add(std::move(span)); },
          .now_us = options_.now_us};
}

OtlpCounts OtlpExporter::span_counts() const {
  const std::scoped_lock hold(lock_);
  return spans_;
}

OtlpCounts OtlpExporter::metric_counts() const {
  const std::scoped_lock hold(lock_);
  return points_;
}

void OtlpExporter::add(Span span) {
  const std::scoped_lock hold(lock_);
  ++spans_.made;
  const std::size_t sending = batch_ ? batch_->spans.size() : 0;
  if (stop_at_ || waiting_.size() + sending >= kSpansWaitingMax) {
    ++spans_.dropped;
    return;
  }
  if (waiting_.empty()) oldest_at_ = Clock::now();
  waiting_.push_back(std::move(span));
  // Only then is the thread late: it wakes up by itself for the oldest one.
  if (waiting_.size() == 1 || waiting_.size() == kBatchMax) changed_.notify_one();
}

// ---- the thread

void OtlpExporter::run() {
  Hold hold(lock_);
  while (true) {
    const Clock::time_point due = due_at();
    if (due > Clock::now()) {
      // A wait until the end of time overflows in some libraries.
      constexpr std::chrono::minutes kWaitMax{1};
      changed_.wait_until(hold, std::min(due, Clock::now() + kWaitMax));
      continue;
    }
    if (stop_at_ && !has_spans()) return;
    if (stop_at_ && Clock::now() >= *stop_at_) return drop_all();
    if (spans_due_at() <= Clock::now()) {
      send_spans(hold);
    } else {
      send_metrics(hold);
    }
  }
}

OtlpExporter::Clock::time_point OtlpExporter::due_at() const {
  return stop_at_ ? Clock::time_point::min() : std::min(spans_due_at(), metrics_at_);
}

OtlpExporter::Clock::time_point OtlpExporter::spans_due_at() const {
  if (!has_spans()) return Clock::time_point::max();
  if (stop_at_) return Clock::time_point::min();
  const bool is_whole = batch_ || waiting_.size() >= kBatchMax;
  return std::max(not_before_, is_whole ? Clock::time_point::min() : oldest_at_ + chrono_of(options_.linger));
}

void OtlpExporter::send_spans(Hold& hold) {
  if (!batch_) take_batch();
  hold.unlock();
  // No other thread touches the batch but to read how many spans it has.
  if (batch_->body.empty()) batch_->body = otlp_traces(sender_, batch_->spans);
  const auto count = static_cast<std::int64_t>(batch_->spans.size());
  const Delivery delivery = judge(post(options_.otel.traces_url, batch_->body), count, "rejectedSpans");
  warn_once(delivery, is_warned_of_spans_, "spans");
  hold.lock();
  settle(delivery);
}

void OtlpExporter::take_batch() {
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kBatchMax));
  const auto end = waiting_.begin() + count;
  batch_ = Batch{};  // clang: emplace() asks before the struct is complete
  batch_->first_try = Clock::now();
  batch_->spans.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  oldest_at_ = Clock::now();
}

void OtlpExporter::settle(const Delivery& delivery) {
  const auto count = static_cast<std::int64_t>(batch_->spans.size());
  if (!delivery.may_repeat) {
    spans_.refused += delivery.refused;
    spans_.sent += count - delivery.refused;
    batch_.reset();
    return;
  }
  if (stop_at_) return drop_all();
  const Clock::time_point now = Clock::now();
  not_before_ = now + chrono_of(delivery.retry_after.value_or(pause_after(++batch_->try_count, rng_)));
  if (not_before_ - batch_->first_try <= chrono_of(options_.patience)) return;
  spans_.dropped += count;
  batch_.reset();
}

void OtlpExporter::send_metrics(Hold& hold) {
  hold.unlock();
  const std::vector<MetricFamily> families = metrics_();
  const std::int64_t count = point_count(families);
  const std::string body = otlp_metrics(sender_, families, began_us_, options_.now_us());
  Delivery delivery;
  if (!body.empty()) {
    delivery = judge(post(options_.otel.metrics_url, body), count, "rejectedDataPoints");
    warn_once(delivery, is_warned_of_metrics_, "metrics");
  }
  hold.lock();
  points_.made += count;
  // Not sent again: the next ones say more than these.
  points_.dropped += delivery.may_repeat ? count : 0;
  points_.refused += delivery.refused;
  points_.sent += delivery.may_repeat ? 0 : count - delivery.refused;
  metrics_at_ = Clock::now() + chrono_of(options_.metrics_interval);
}

Result<HttpReply> OtlpExporter::post(const std::string& url, const std::string& body) const {
  HttpCall call{
      .method = "POST", .url = url, .headers = options_.otel.headers, .body = body, .timeout = options_.timeout};
  call.headers.push_back({"Content-Type", "application/json"});
  call.is_stopped = [this] {
    const std::scoped_lock hold(lock_);
    return stop_at_ && Clock::now() >= *stop_at_;
  };
  return client_.send(call);
}

void OtlpExporter::warn_once(const Delivery& delivery, bool& is_warned, std::string_view of_what) {
  const bool was_warned = std::exchange(is_warned, delivery.trouble.has_value());
  if (!delivery.trouble || was_warned) return;
  options_.warn(fmt::format("{} are not taken: {}", of_what, *delivery.trouble));
}

void OtlpExporter::drop_all() {
  spans_.dropped += static_cast<std::int64_t>(waiting_.size() + (batch_ ? batch_->spans.size() : 0));
  waiting_.clear();
  batch_.reset();
}

}  // namespace berth::edges
