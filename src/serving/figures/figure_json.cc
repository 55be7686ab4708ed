#include "serving/figures/figure_json.h"

#include "base/core/clock_text.h"
#include "base/core/ensure.h"

namespace berth::serving {
namespace {

using json::Writer;

constexpr WorldEpoch kUnixEpoch = {.unix_micros = 0};

std::optional<double> percentile_ms(const LatencyBuckets& latencies, int percent) {
  constexpr double kMicrosPerMs = 1000;
  const auto us = percentile_us(latencies, percent);
  return us ? std::optional(*us / kMicrosPerMs) : std::nullopt;
}

/// Each answer in time counts as 1.
std::optional<double> goodput_of(const RequestFigures& figures) {
  const std::int64_t ended = figures.in_time + figures.late + figures.dropped();
  if (ended == 0) return std::nullopt;
  return static_cast<double>(figures.in_time) / static_cast<double>(ended);
}

void write_point(Writer& json, const FigurePoint& point, bool is_model) {
  const RequestFigures& figures = point.figures;
  json.open_object().member("from", kUnixEpoch.text(Instant::at_second(point.from)));
  json.member("to", kUnixEpoch.text(Instant::at_second(point.to))).member("seconds", point.seconds);
  put_counts(json, figures, point.has_batches);
  json.member("goodput", goodput_of(figures)).member("queue_max", figures.queue_max);
  if (is_model) {
    json.member("latency_p50_ms", percentile_ms(figures.latencies, 50));
    json.member("latency_p99_ms", percentile_ms(figures.latencies, 99));
  }
  json.close_object();
}

void write_model_memory(Writer& json, const ModelMemory& model) {
  std::optional<std::string> lease_until;
  if (model.lease_until_us) lease_until = kUnixEpoch.text(Instant(*model.lease_until_us));
  json.open_object().member("name", model.name).member("version", model.version).member("state", name_of(model.state));
  json.member("reserved_bytes", model.reserved_bytes).member("measured_bytes", model.measured_bytes);
  json.member("accepted", model.accepted).member("lease_until", lease_until).member("value", model.value);
  json.member("load_us", model.load ? std::optional(model.load->count()) : std::nullopt);
  json.member("variant", model.variant);
  if (model.preloads) {
    json.member("preloads", model.preloads->counts.begun).member("preload_hits", model.preloads->counts.hits);
    json.member("chance", model.preloads->chance);
  }
  json.close_object();
}

}  // namespace

void put_counts(Writer& json, const RequestFigures& figures, bool has_batches) {
  const auto known = [&](std::int64_t count) { return has_batches ? std::optional(count) : std::nullopt; };
  json.member("requests", figures.requests).member("in_time", figures.in_time).member("late", figures.late);
  json.member("dropped", figures.dropped()).member("rejected", figures.rejected).member("expired", figures.expired);
  json.member("failed", figures.failed).member("cancelled", figures.cancelled);
  json.member("batches", known(figures.batches)).member("rows", known(figures.rows));
}

std::string series_json(std::span<const FigurePoint> points, bool is_model, const std::optional<std::int64_t>& next) {
  Writer json;
  json.open_object().list("items", points,
                          [&](Writer& to, const FigurePoint& point) { write_point(to, point, is_model); });
  std::optional<std::string> token;
  if (next) token = std::to_string(*next);
  json.open_object("metadata").member("continue", token).close_object();
  return json.close_object().take();
}

std::string memory_json(const MemoryFigures& memory) {
  Writer json;
  json.open_object().member("limit_bytes", memory.limit_bytes).member("reserved_bytes", memory.reserved_bytes);
  json.member("measured_bytes", memory.measured_bytes).member("base_bytes", memory.base_bytes);
  json.member("device_free_bytes", memory.device_free_bytes).list("models", memory.models, write_model_memory);
  return json.close_object().take();
}

std::string usage_json(std::span<const UsageItem> items) {
  Writer json;
  json.open_object().list("items", items, [](Writer& to, const UsageItem& item) {
    to.open_object().member("tenant", item.tenant).member("model", item.model).member("requests", item.requests);
    to.member("device_us", item.device_us).member("prompt_tokens", item.prompt_tokens);
    to.member("completion_tokens", item.completion_tokens).close_object();
  });
  return json.close_object().take();
}

std::string times_json(const TimeFigures& times) {
  Writer json;
  json.open_object().member("started_us", times.started_us).member("device", times.device);
  json.list("items", times.items, [](Writer& to, const BatchTimes& item) {
    to.open_object().member("model", item.model).member("version", item.version).member("sha256", item.sha256);
    to.member("batch", item.batch).member("count", item.times.count).member("sum_us", item.times.sum_us);
    to.member("sum_squares", item.times.sum_squares).close_object();
  });
  return json.close_object().take();
}

}  // namespace berth::serving
