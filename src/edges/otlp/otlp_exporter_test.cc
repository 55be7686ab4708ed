#include "edges/otlp/otlp_exporter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <deque>

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A collector in this process: answers each request with the next of its answers, the last one again and again.
class Collector : public HttpClient {
 public:
  explicit Collector(std::vector<Result<HttpReply>> answers) : answers_(answers.begin(), answers.end()) {}

  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const override {
    std::unique_lock hold(lock_);
    calls_.push_back(call);
    calls_.back().is_stopped = {};
    changed_.notify_all();
    while (is_silent_ && !call.is_stopped()) changed_.wait_for(hold, std::chrono::milliseconds(1));
    if (is_silent_) return fail(ErrorCode::kInterrupted, "stopped");
    Result<HttpReply> answer = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    return answer;
  }
  [[nodiscard]] Result<HttpReply> read_lines(const HttpCall&, const HttpLineReading&) const override {
    return invalid("no stream");
  }

  void be_silent() { is_silent_ = true; }
  /// Waits for so many requests; all of them.
  [[nodiscard]] std::vector<HttpCall> calls(std::size_t count) const {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return calls_.size() >= count; });
    return calls_;
  }

 private:
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  mutable std::deque<Result<HttpReply>> answers_;
  mutable std::vector<HttpCall> calls_;
  std::atomic<bool> is_silent_ = false;
};

HttpReply reply(int status, const std::string& body = "{}", const std::string& retry_after = "0") {
  return {.status = status, .headers = {{"Retry-After", retry_after}}, .body = body};
}

class OtlpExporterTest : public ::testing::Test {
 protected:
  void start(const Collector& collector, std::function<std::vector<MetricFamily>()> metrics = {}) {
    options_.otel.traces_url = "http://collector/v1/traces";
    options_.otel.headers = {{"api-key", "canary"}};
    options_.otel.resource = {{"service.name", "berth"}};
    options_.now_us = [] { return std::int64_t{1'700'000'000'000'000}; };
    options_.warn = [this](const std::string& message) { warnings_.push_back(message); };
    options_.linger = Micros(1000);
    exporter_ = std::make_unique<OtlpExporter>(options_, collector);
    recorder_ = exporter_->recorder();
    exporter_->start(std::move(metrics));
  }
  /// Makes so many spans.
  void make(int count) {
    for (int i = 0; i < count; ++i) {
      Span span = child_of({}, recorder_.next_id());
      span.name = "made";
      recorder_.end(std::move(span));
    }
  }

  OtlpExporterOptions options_;
  std::vector<std::string> warnings_;
  std::unique_ptr<OtlpExporter> exporter_;
  SpanRecorder recorder_;
};

TEST_F(OtlpExporterTest, SendsWhatIsMade) {
  const Collector collector({reply(200)});
  start(collector);
  make(3);
  exporter_->stop();
  EXPECT_EQ(exporter_->span_counts(), (OtlpCounts{.made = 3, .sent = 3}));
  const auto calls = collector.calls(1);
  EXPECT_EQ(calls[0].url, "http://collector/v1/traces");
  EXPECT_THAT(calls[0].headers,
              ElementsAre(HttpField{"api-key", "canary"}, HttpField{"Content-Type", "application/json"}));
  EXPECT_THAT(calls[0].body, HasSubstr(R"("name":"made")"));
  EXPECT_THAT(warnings_, SizeIs(0));
}

TEST_F(OtlpExporterTest, SendsNothingWhereNothingIsMade) {
  const Collector collector({reply(200)});
  start(collector);
  exporter_->stop();
  EXPECT_THAT(collector.calls(0), SizeIs(0));
}

TEST_F(OtlpExporterTest, TriesAgainWithTheSameBytesAndWarnsOnce) {
  const Collector collector({reply(503), fail(ErrorCode::kNoServer, "refused"), reply(429), reply(200)});
  start(collector);
  make(2);
  const auto calls = collector.calls(4);
  exporter_->stop();
  EXPECT_EQ(calls[0].body, calls[3].body);
  EXPECT_EQ(exporter_->span_counts(), (OtlpCounts{.made = 2, .sent = 2}));
  EXPECT_THAT(warnings_, ElementsAre("spans are not taken: the collector answered with status 503"));
}

TEST_F(OtlpExporterTest, NeverRepeatsWhatWasTakenInPartOrRefused) {
  const Collector collector({reply(200, R"({"partialSuccess":{"rejectedSpans":"1"}})"), reply(400)});
  start(collector);
  make(3);
  static_cast<void>(collector.calls(1));
  while (exporter_->span_counts().sent < 2) std::this_thread::yield();
  make(4);
  exporter_->stop();
  EXPECT_THAT(collector.calls(2), SizeIs(2));
  EXPECT_EQ(exporter_->span_counts(), (OtlpCounts{.made = 7, .sent = 2, .refused = 5}));
  EXPECT_THAT(warnings_, SizeIs(1));  // one outage
}

TEST_F(OtlpExporterTest, ASilentCollectorHoldsNothingUpAndEachSpanIsCounted) {
  Collector collector({reply(200)});
  collector.be_silent();
  options_.stop_time = Micros(20'000);
  start(collector);
  make(1);
  static_cast<void>(collector.calls(1));
  make(3000);
  exporter_->stop();
  make(1);
  EXPECT_EQ(exporter_->span_counts(), (OtlpCounts{.made = 3002, .dropped = 3002}));
  EXPECT_THAT(collector.calls(1), SizeIs(1));
}

TEST_F(OtlpExporterTest, NoMoreThanTheLimitWait) {
  const Collector collector({reply(503, "", "3600")});
  options_.patience = Micros::seconds(7200);
  start(collector);
  make(1);
  static_cast<void>(collector.calls(1));
  make(static_cast<int>(kSpansWaitingMax) + 9);
  EXPECT_EQ(exporter_->span_counts().dropped, 10);
  exporter_->stop();  // one last try
  EXPECT_EQ(exporter_->span_counts().dropped, static_cast<std::int64_t>(kSpansWaitingMax) + 10);
}

TEST_F(OtlpExporterTest, OldSpansAreDroppedInALongOutage) {
  const Collector collector({reply(503, "", "1"), reply(200)});
  options_.patience = Micros(0);
  start(collector);
  make(5);
  static_cast<void>(collector.calls(1));
  while (exporter_->span_counts().dropped < 5) std::this_thread::yield();
  exporter_->stop();
  EXPECT_EQ(exporter_->span_counts(), (OtlpCounts{.made = 5, .dropped = 5}));
}

TEST_F(OtlpExporterTest, MetricsGoToTheirOwnAddressAndAreNotSentAgain) {
  const Collector collector({reply(503), reply(200), reply(200, R"({"partialSuccess":{"rejectedDataPoints":"1"}})")});
  options_.otel.metrics_url = "http://collector/v1/metrics";
  options_.metrics_interval = Micros(1000);
  start(collector,
        [] { return std::vector<MetricFamily>{{.name = "berth_a", .help = "A.", .samples = {{.value = 1.0}}}}; });
  const auto calls = collector.calls(3);
  exporter_->stop();
  EXPECT_EQ(calls[0].url, "http://collector/v1/metrics");
  EXPECT_THAT(calls[0].body, HasSubstr("berth_a"));
  const OtlpCounts counts = exporter_->metric_counts();
  EXPECT_EQ(counts.dropped, 1);
  EXPECT_EQ(counts.sent, 1);
  EXPECT_EQ(counts.made, counts.sent + counts.refused + counts.dropped);
}

TEST_F(OtlpExporterTest, WithoutAnAddressForSpansNothingIsTraced) {
  const Collector collector({reply(200)});
  options_.now_us = [] { return std::int64_t{0}; };
  OtlpExporter exporter(options_, collector);
  EXPECT_FALSE(exporter.recorder());
}

TEST(SpanSource, ReadsAreTracedBelowATraceOnly) {
  SpanSource source({.new_per_second_max = 2, .now_us = [] { return std::int64_t{7}; }, .seed = 1});
  const TraceContext sampled{.trace = {.bytes = {1}}, .span = {.bytes = {2}}, .is_sampled = true, .state = "a=1"};
  EXPECT_FALSE(source.begin(std::nullopt, false));
  for (int i = 0; i < 10; ++i) {
    const auto span = source.begin(sampled, false);
    ASSERT_TRUE(span);
    EXPECT_EQ(span->trace, sampled.trace);
    EXPECT_EQ(span->parent, sampled.span);
    EXPECT_NE(span->id, sampled.span);
    EXPECT_EQ(span->state, "a=1");
    EXPECT_EQ(span->begin_us, 7);
  }
  const auto first = source.begin(std::nullopt, true);
  const auto second = source.begin(std::nullopt, true);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->trace, second->trace);
  EXPECT_FALSE(first->parent);
  EXPECT_FALSE(source.begin(std::nullopt, true));  // the limit
}

TEST(SpanSource, TheLimitMayCountCallersToo) {
  SpanSource source(
      {.new_per_second_max = 1, .limits_callers = true, .now_us = [] { return std::int64_t{0}; }, .seed = 1});
  const TraceContext sampled{.trace = {.bytes = {1}}, .span = {.bytes = {2}}, .is_sampled = true};
  EXPECT_TRUE(source.begin(sampled, true));
  EXPECT_FALSE(source.begin(sampled, true));
}

}  // namespace
}  // namespace berth::edges
