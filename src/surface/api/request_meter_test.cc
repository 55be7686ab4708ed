#include "surface/api/request_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::api {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::uint64_t count_of(const MetricSample& sample) {
  std::uint64_t count = 0;
  for (const std::uint64_t each : std::get<MetricHistogram>(sample.value).counts) count += each;
  return count;
}

TEST(RequestMeter, CountsByMethodRouteAndStatus) {
  RequestMeter meter(10);
  meter.add("GET", "/v1/gpus/{id}", 200, std::chrono::milliseconds(2));
  meter.add("GET", "/v1/gpus/{id}", 200, std::chrono::seconds(20));
  meter.add("GET", "/v1/gpus/{id}", 404, std::chrono::milliseconds(1));
  const auto samples = meter.samples();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_THAT(samples[0].labels,
              ElementsAre(Pair("method", "GET"), Pair("route", "/v1/gpus/{id}"), Pair("code", "200")));
  EXPECT_EQ(count_of(samples[0]), 2U);
  EXPECT_DOUBLE_EQ(std::get<MetricHistogram>(samples[0].value).sum, 20.002);
  EXPECT_EQ(std::get<MetricHistogram>(samples[0].value).counts.size() + 2, RequestMeter::kSeries);
}

TEST(RequestMeter, InventsNoSeriesForMethodsOfClients) {
  RequestMeter meter(10);
  for (int i = 0; i < 100; ++i) meter.add("X" + std::to_string(i), "", 405, std::chrono::milliseconds(1));
  ASSERT_EQ(meter.samples().size(), 1U);
  EXPECT_THAT(meter.samples().front().labels,
              ElementsAre(Pair("method", "other"), Pair("route", ""), Pair("code", "405")));
}

TEST(RequestMeter, SumsWhatComesLater) {
  RequestMeter meter(1);
  meter.add("GET", "/a", 200, std::chrono::milliseconds(1));
  meter.add("GET", "/b", 200, std::chrono::milliseconds(1));
  meter.add("GET", "/c", 200, std::chrono::milliseconds(1));
  meter.add("GET", "/a", 200, std::chrono::milliseconds(1));
  const auto samples = meter.samples();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(count_of(samples[0]), 2U);
  EXPECT_EQ(count_of(samples[1]), 2U);
  EXPECT_THAT(samples[1].labels,
              ElementsAre(Pair("method", ""), Pair("route", ""), Pair("code", ""), Pair("overflow", "true")));
}

TEST(RequestTimer, CountsALaterAnswerWhenItIsGiven) {
  RequestMeter meter(10);
  const RequestTimer timer(meter, "PUT", "/v1/x");
  std::unique_ptr<HttpLateReply> given;
  HttpAnswer answer =
      timer.timed(HttpLater{.start = [&](std::unique_ptr<HttpLateReply> reply) { given = std::move(reply); }});
  struct Sink final : HttpLateReply {
    int* status;
    explicit Sink(int* to) : status(to) {}
    void send(HttpResponse response) override { *status = response.status; }
  };
  int status = 0;
  std::get<HttpLater>(answer).start(std::make_unique<Sink>(&status));
  EXPECT_TRUE(meter.samples().empty());
  given->send({.status = 409, .content_type = "", .headers = {}, .body = ""});
  EXPECT_EQ(status, 409);
  ASSERT_EQ(meter.samples().size(), 1U);
  EXPECT_EQ(meter.samples().front().labels.back().second, "409");
}

}  // namespace
}  // namespace berth::api
