#include "domain/tracing/otlp_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/core/overloaded.h"
#include "base/json/document.h"
#include "base/json/writer.h"

namespace berth {
namespace {

constexpr int kCumulative = 2;       // AggregationTemporality
constexpr int kError = 2;            // Status.StatusCode
constexpr unsigned kSampled = 0x1;   // the flags of W3C
constexpr unsigned kKnows = 0x100;   // whether the parent is remote is known
constexpr unsigned kRemote = 0x200;  // it is

/// The nanoseconds of a time in microseconds, as a text.
std::string nanos(std::int64_t us) { return fmt::format("{}000", us); }

void put_text_attribute(json::Writer& json, std::string_view key, std::string_view value) {
  json.open_object().member("key", key).open_object("value").member("stringValue", value).close_object().close_object();
}

void put_attribute(json::Writer& json, const SpanAttribute& attribute) {
  json.open_object().member("key", attribute.first).open_object("value");
  std::visit(Overloaded{[&](const std::string& text) { json.member("stringValue", text); },
                        [&](std::int64_t number) { json.member("intValue", fmt::to_string(number)); },
                        [&](double number) { json.member("doubleValue", number); },
                        [&](bool truth) { json.member("boolValue", truth); }},
             attribute.second);
  json.close_object().close_object();
}

/// The beginning of a request: up to the list of the scope's items.
void open_request(json::Writer& json, const OtlpSender& sender, std::string_view of_resource,
                  std::string_view of_scope) {
  json.open_object().open_list(of_resource).open_object().open_object("resource").open_list("attributes");
  for (const auto& [key, value] : sender.resource) put_text_attribute(json, key, value);
  json.close_list().close_object().open_list(of_scope).open_object();
  json.open_object("scope").member("name", "berth").member("version", sender.version).close_object();
}

std::string close_request(json::Writer& json) {
  return json.close_object().close_list().close_object().close_list().close_object().take();
}

void put_span(json::Writer& json, const Span& span) {
  json.open_object().member("traceId", hex_of(span.trace)).member("spanId", hex_of(span.id));
  if (span.parent) json.member("parentSpanId", hex_of(*span.parent));
  if (!span.state.empty()) json.member("traceState", span.state);
  json.member("flags", kSampled | kKnows | (span.has_remote_parent ? kRemote : 0U)).member("name", span.name);
  json.member("kind", static_cast<int>(span.kind)).member("startTimeUnixNano", nanos(span.begin_us));
  json.member("endTimeUnixNano", nanos(std::max(span.begin_us, span.end_us)));
  if (!span.attributes.empty()) json.list("attributes", span.attributes, put_attribute);
  if (!span.links.empty()) {
    json.list("links", span.links, [](json::Writer& list, const SpanLink& link) {
      list.open_object().member("traceId", hex_of(link.trace)).member("spanId", hex_of(link.span)).close_object();
    });
  }
  if (span.failure) json.open_object("status").member("message", *span.failure).member("code", kError).close_object();
  json.close_object();
}

// ---- metrics

/// When the points of a request were made.
struct PointTimes {
  std::string begin;  ///< of what is counted, as text
  std::string now;
};

void put_histogram(json::Writer& json, const MetricHistogram& histogram) {
  std::uint64_t count = 0;
  for (const std::uint64_t each : histogram.counts) count += each;
  json.member("count", fmt::to_string(count)).member("sum", histogram.sum);
  json.open_list("bucketCounts");
  for (const std::uint64_t each : histogram.counts) json.value(fmt::to_string(each));
  json.close_list().list("explicitBounds", histogram.bounds);
}

void put_point(json::Writer& json, const MetricSample& sample, bool is_gauge, const PointTimes& times) {
  json.open_object();
  if (!sample.labels.empty()) {
    json.open_list("attributes");
    for (const auto& [key, value] : sample.labels) put_text_attribute(json, key, value);
    json.close_list();
  }
  if (!is_gauge) json.member("startTimeUnixNano", times.begin);
  json.member("timeUnixNano", times.now);
  std::visit(Overloaded{[&](double number) { json.member("asDouble", number); },
                        [&](const MetricHistogram& histogram) { put_histogram(json, histogram); }},
             sample.value);
  json.close_object();
}

std::string_view data_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "sum";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "gauge";
}

void put_family(json::Writer& json, const MetricFamily& family, const PointTimes& times) {
  const bool is_gauge = family.kind == MetricKind::kGauge;
  json.open_object().member("name", family.name).member("description", family.help);
  json.open_object(data_of(family.kind)).open_list("dataPoints");
  for (const MetricSample& sample : family.samples) put_point(json, sample, is_gauge, times);
  json.close_list();
  if (!is_gauge) json.member("aggregationTemporality", kCumulative);
  if (family.kind == MetricKind::kCounter) json.member("isMonotonic", true);
  json.close_object().close_object();
}

/// The scalar of a key in an object; null: there is none.
const yaml::Node* member_of(const yaml::Node& node, std::string_view key) {
  const auto* map = std::get_if<yaml::Map>(&node.value);
  if (map == nullptr) return nullptr;
  for (const yaml::Entry& entry : *map) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string scalar_of(const yaml::Node* node) {
  const auto* scalar = node == nullptr ? nullptr : std::get_if<yaml::Scalar>(&node->value);
  return scalar == nullptr || scalar->kind == yaml::ScalarKind::kNull ? "" : scalar->text;
}

}  // namespace

std::string otlp_traces(const OtlpSender& sender, std::span<const Span> spans) {
  json::Writer json;
  open_request(json, sender, "resourceSpans", "scopeSpans");
  json.list("spans", spans, put_span);
  return close_request(json);
}

std::string otlp_metrics(const OtlpSender& sender, std::span<const MetricFamily> families, std::int64_t begin_us,
                         std::int64_t now_us) {
  if (point_count(families) == 0) return "";
  const PointTimes times{.begin = nanos(begin_us), .now = nanos(now_us)};
  json::Writer json;
  open_request(json, sender, "resourceMetrics", "scopeMetrics");
  json.open_list("metrics");
  for (const MetricFamily& family : families) {
    if (!family.samples.empty()) put_family(json, family, times);
  }
  json.close_list();
  return close_request(json);
}

std::optional<PartialSuccess> partial_success_of(std::string_view body, std::string_view name) {
  const auto root = json::parse_document(body, "answer");
  const yaml::Node* part = root ? member_of(*root, "partialSuccess") : nullptr;
  if (part == nullptr) return std::nullopt;
  const std::string count = scalar_of(member_of(*part, name));
  PartialSuccess partial{.message = scalar_of(member_of(*part, "errorMessage"))};
  const auto [end, fault] = std::from_chars(count.data(), count.data() + count.size(), partial.rejected);
  if (fault != std::errc() || end != count.data() + count.size() || partial.rejected < 0) partial.rejected = 0;
  if (partial.rejected == 0 && partial.message.empty()) return std::nullopt;
  return partial;
}

std::int64_t point_count(std::span<const MetricFamily> families) {
  std::int64_t count = 0;
  for (const MetricFamily& family : families) count += static_cast<std::int64_t>(family.samples.size());
  return count;
}

}  // namespace berth
