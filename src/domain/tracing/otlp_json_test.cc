#include "domain/tracing/otlp_json.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

const OtlpSender kSender{.resource = {{"service.name", "berth"}}, .version = "1.2.3"};
constexpr const char* kScope = R"("scope":{"name":"berth","version":"1.2.3"})";
constexpr const char* kResource =
    R"("resource":{"attributes":[{"key":"service.name","value":{"stringValue":"berth"}}]})";

Span span() {
  Span made;
  made.trace.bytes.fill(0xab);
  made.id.bytes.fill(0x01);
  made.name = "plan";
  made.begin_us = 1'700'000'000'000'001;
  made.end_us = 1'700'000'000'000'003;
  return made;
}

std::string traces(const std::string& of_span) {
  return std::string(R"({"resourceSpans":[{)") + kResource + R"(,"scopeSpans":[{)" + kScope + R"(,"spans":[)" +
         of_span + "]}]}]}";
}

TEST(OtlpJson, ASpanWithoutAnything) {
  const Span made = span();
  EXPECT_EQ(otlp_traces(kSender, std::span(&made, 1)),
            traces(R"({"traceId":"abababababababababababababababab","spanId":"0101010101010101","flags":257,)"
                   R"("name":"plan","kind":1,"startTimeUnixNano":"1700000000000001000",)"
                   R"("endTimeUnixNano":"1700000000000003000"})"));
}

TEST(OtlpJson, ASpanWithAll) {
  Span made = span();
  made.parent.emplace().bytes.fill(0x02);
  made.has_remote_parent = true;
  made.state = "a=1";
  made.kind = SpanKind::kServer;
  made.end_us = made.begin_us - 5;  // never before its beginning
  made.attributes = {
      {"text", std::string("x\"")}, {"count", std::int64_t{5'000'000'000}}, {"share", 0.5}, {"ok", true}};
  made.links.push_back({.trace = made.trace, .span = *made.parent});
  made.failure = "it failed";
  EXPECT_EQ(otlp_traces(kSender, std::span(&made, 1)),
            traces(R"({"traceId":"abababababababababababababababab","spanId":"0101010101010101",)"
                   R"("parentSpanId":"0202020202020202","traceState":"a=1","flags":769,"name":"plan","kind":2,)"
                   R"("startTimeUnixNano":"1700000000000001000","endTimeUnixNano":"1700000000000001000",)"
                   R"("attributes":[{"key":"text","value":{"stringValue":"x\""}},)"
                   R"({"key":"count","value":{"intValue":"5000000000"}},{"key":"share","value":{"doubleValue":0.5}},)"
                   R"({"key":"ok","value":{"boolValue":true}}],)"
                   R"("links":[{"traceId":"abababababababababababababababab","spanId":"0202020202020202"}],)"
                   R"("status":{"message":"it failed","code":2}})"));
}

TEST(OtlpJson, MetricsOfEachKind) {
  const std::vector<MetricFamily> families = {
      {.name = "a_total",
       .help = "A.",
       .kind = MetricKind::kCounter,
       .samples = {{.labels = {{"k", "v"}}, .value = 2.0}}},
      {.name = "b", .help = "B.", .kind = MetricKind::kGauge, .samples = {{.value = 0.5}}},
      {.name = "none", .help = "None.", .kind = MetricKind::kGauge, .samples = {}},
      {.name = "c",
       .help = "C.",
       .kind = MetricKind::kHistogram,
       .samples = {{.value = MetricHistogram{.bounds = {0.1, 1}, .counts = {1, 0, 2}, .sum = 7.5}}}}};
  EXPECT_EQ(
      otlp_metrics(kSender, families, 1, 2),
      std::string(R"({"resourceMetrics":[{)") + kResource + R"(,"scopeMetrics":[{)" + kScope +
          R"(,"metrics":[{"name":"a_total","description":"A.","sum":{"dataPoints":[{"attributes":[{"key":"k",)"
          R"("value":{"stringValue":"v"}}],"startTimeUnixNano":"1000","timeUnixNano":"2000","asDouble":2.0}],)"
          R"("aggregationTemporality":2,"isMonotonic":true}},)"
          R"({"name":"b","description":"B.","gauge":{"dataPoints":[{"timeUnixNano":"2000","asDouble":0.5}]}},)"
          R"({"name":"c","description":"C.","histogram":{"dataPoints":[{"startTimeUnixNano":"1000",)"
          R"("timeUnixNano":"2000","count":"3","sum":7.5,"bucketCounts":["1","0","2"],"explicitBounds":[0.1,1.0]}],)"
          R"("aggregationTemporality":2}}]}]}]})");
  EXPECT_EQ(point_count(families), 3);
}

TEST(OtlpJson, WithoutSamplesThereIsNoRequest) {
  const std::vector<MetricFamily> families = {{.name = "b", .help = "B.", .samples = {}}};
  EXPECT_EQ(otlp_metrics(kSender, families, 1, 2), "");
}

TEST(OtlpJson, ReadsWhatACollectorRefusedInPart) {
  const auto read = [](const char* body) { return partial_success_of(body, "rejectedSpans"); };
  EXPECT_EQ(read(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}})"),
            (PartialSuccess{.rejected = 3, .message = "too old"}));
  EXPECT_EQ(read(R"({"partialSuccess":{"rejectedSpans":3}})"), (PartialSuccess{.rejected = 3, .message = ""}));
  EXPECT_EQ(read(R"({"partialSuccess":{"errorMessage":"a remark"}})"), (PartialSuccess{.message = "a remark"}));
  for (const char* nothing : {"", "{}", R"({"partialSuccess":{}})", R"({"partialSuccess":{"rejectedSpans":"-1"}})",
                              R"({"partialSuccess":[1]})", "<html>", R"({"partialSuccess":null})"}) {
    EXPECT_EQ(read(nothing), std::nullopt) << nothing;
  }
}

}  // namespace
}  // namespace berth
