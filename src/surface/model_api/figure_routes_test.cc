#include "surface/model_api/figure_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "surface/model_api/model_api.h"
#include "surface/model_api/testing/api_client.h"
#include "surface/model_api/testing/fake_inference_service.h"

namespace berth::model_api {
namespace {

using Json = nlohmann::json;
using serving::AskedFigures;
using serving::FigurePoint;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Knows the model "digits", which had a request each second of ten minutes.
class FakeFigures final : public serving::FigureService {
 public:
  static constexpr std::int64_t kBegin = 1'800'000'000;
  static constexpr std::int64_t kEnd = kBegin + 600;

  mutable std::optional<AskedFigures> asked;

  [[nodiscard]] serving::ServeResult<std::vector<FigurePoint>> series(const AskedFigures& what) const override {
    asked = what;
    if (what.model && what.model != "digits") return serving::refuse(serving::ServeFault::kUnknown, "no such model");
    std::vector<FigurePoint> points;
    std::int64_t from = std::max(what.from.value_or(kBegin), kBegin);
    from -= from % what.step;
    for (; from < std::min(what.to.value_or(kEnd), kEnd) && points.size() < what.count_max; from += what.step) {
      FigurePoint point{.from = from, .to = from + what.step, .seconds = what.step, .has_batches = !what.model};
      point.figures.requests = what.step;
      point.figures.in_time = 3;
      point.figures.late = point.figures.expired = 1;
      if (what.model) point.figures.latencies = {{.bucket = 200, .count = 4}};
      points.push_back(point);
    }
    return points;
  }
  [[nodiscard]] serving::MemoryFigures memory() const override { return {.limit_bytes = 77}; }
  [[nodiscard]] std::vector<serving::UsageItem> usage() const override {
    return {{.tenant = "default", .model = "digits", .requests = 2}};
  }
  [[nodiscard]] serving::TimeFigures times() const override { return {.started_us = 5, .device = "cpu"}; }
  [[nodiscard]] serving::CounterFigures counters() const override { return {.device = "cpu", .lanes = 3}; }
};

class FigureRoutesTest : public testing::Test {
 protected:
  std::shared_ptr<Exchange> get(std::string_view path, std::vector<HttpField> query = {}) {
    HttpRequest request = request_of("GET", path);
    request.query = std::move(query);
    return ask(api_, request);
  }
  Json series(std::vector<HttpField> query) {
    const auto exchange = get("/berth/v1/series", std::move(query));
    EXPECT_EQ(exchange->status(), 200) << exchange->body();
    return Json::parse(exchange->body());
  }

  FakeInferenceService service_;
  FakeFigures figures_;
  ModelApi api_{service_, figure_routes(figures_)};
};

TEST_F(FigureRoutesTest, PointsOfAllModelsHaveNoLatencies) {
  const Json answer = series({});
  EXPECT_EQ(answer["items"].size(), 10U);
  const Json& point = answer["items"][0];
  EXPECT_EQ(point["from"], "2027-01-15T08:00:00.000000Z");
  EXPECT_EQ(point["to"], "2027-01-15T08:01:00.000000Z");
  EXPECT_EQ(point["requests"], 60);
  EXPECT_EQ(point["dropped"], 1);
  EXPECT_EQ(point["goodput"], 0.6);
  EXPECT_EQ(point["batches"], 0);
  EXPECT_FALSE(point.contains("latency_p50_ms"));
  EXPECT_FALSE(point.contains("busy"));
  EXPECT_TRUE(answer["metadata"]["continue"].is_null());
}

TEST_F(FigureRoutesTest, PointsOfAModelHaveLatencies) {
  const Json point = series({{"model", "digits"}, {"step", "30"}, {"from", "2027-01-15T08:00:40.5Z"}})["items"][0];
  EXPECT_EQ(figures_.asked->from, FakeFigures::kBegin + 40);
  EXPECT_EQ(point["latency_p99_ms"], 0.2);
  EXPECT_TRUE(point["rows"].is_null());
}

TEST_F(FigureRoutesTest, PagesAreTheWhole) {
  const Json all = series({{"step", "20"}})["items"];
  Json in_pages = Json::array();
  std::vector<HttpField> query = {{"step", "20"}, {"limit", "7"}};
  for (int page = 0; page < 10; ++page) {
    const Json answer = series(query);
    for (const Json& item : answer["items"]) in_pages.push_back(item);
    if (answer["metadata"]["continue"].is_null()) break;
    query.resize(2);
    query.push_back({"continue", answer["metadata"]["continue"]});
  }
  EXPECT_EQ(in_pages, all);
}

TEST_F(FigureRoutesTest, BadParametersAreNamed) {
  const auto error = [&](std::vector<HttpField> query) {
    const auto exchange = get("/berth/v1/series", std::move(query));
    EXPECT_EQ(exchange->status(), 400);
    return exchange->body();
  };
  for (const char* step : {"0", "7", "90", "86460", "-60", "x", ""}) {
    EXPECT_THAT(error({{"step", step}}), StartsWith(R"({"error":"step: wanted seconds: a divisor of 60)"));
  }
  EXPECT_THAT(error({{"from", "yesterday"}}), HasSubstr("from: wanted a time of RFC 3339"));
  EXPECT_THAT(error({{"from", "2027-01-15T08:00:00Z"}, {"to", "2027-01-15T08:00:00Z"}}),
              HasSubstr("to: wanted a time behind from"));
  EXPECT_THAT(error({{"since", "1"}}), HasSubstr("since: wanted one of model, from, to, step, limit, continue"));
  EXPECT_THAT(error({{"step", "1"}, {"step", "1"}}), HasSubstr("step: wanted it once"));
  EXPECT_THAT(error({{"limit", "501"}}), HasSubstr("limit: wanted a whole number from 1 to 500"));
  EXPECT_THAT(error({{"continue", "61"}}), HasSubstr("continue: wanted what the last page"));
  EXPECT_EQ(get("/berth/v1/series", {{"model", "other"}})->status(), 404);
  for (const char* path : {"/berth/v1/memory", "/berth/v1/usage", "/berth/v1/times"}) {
    EXPECT_EQ(get(path, {{"a", "b"}})->status(), 400);
  }
}

TEST_F(FigureRoutesTest, TheOtherRoutes) {
  EXPECT_THAT(get("/berth/v1/memory")->body(), StartsWith(R"({"limit_bytes":77,)"));
  EXPECT_THAT(get("/berth/v1/usage")->body(), HasSubstr(R"("requests":2,"device_us":null,)"));
  EXPECT_EQ(get("/berth/v1/times")->body(), R"({"started_us":5,"device":"cpu","items":[]})");
  const auto metrics = get("/metrics");
  EXPECT_THAT(metrics->body(), HasSubstr("\nberth_lanes 3\n"));
  EXPECT_EQ(metrics->response->content_type, "text/plain; version=0.0.4; charset=utf-8");
}

TEST_F(FigureRoutesTest, OnlyMetricsNeedNoKey) {
  service_.keys["k"] = serving::TenantIndex();
  for (const char* path : {"/berth/v1/series", "/berth/v1/memory", "/berth/v1/usage", "/berth/v1/times"}) {
    EXPECT_EQ(get(path)->status(), 401);
  }
  EXPECT_EQ(get("/metrics")->status(), 200);
}

}  // namespace
}  // namespace berth::model_api
