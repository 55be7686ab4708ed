// Series as a client of the API sees them: two services, of which one has more requests than it can answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/testing/memory_series.h"
#include "live/session/series_minutes.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/api/api.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr std::int64_t kSeriesEpoch = 1'763'800'000'000'000;
constexpr std::int64_t kSeconds = 130;

class SeriesApi : public ::testing::Test {
 protected:
  SeriesApi() {
    namespace t = sim::testing;
    const std::vector<t::Row> rows = {{.profile = "3g.40gb", .latency_ms = 10}};
    const auto arrivals = [](std::int64_t per_second) {
      return t::generated(Generator::Kind::kConstant, Decimal(per_second), 300);
    };
    live::SessionOptions options;
    options.policy = "fixed";
    options.listener.series = [this](SeriesSpan second) { keep(std::move(second)); };
    Scenario scenario = t::scenario_of(
        {t::service_of("a", rows, arrivals(20)), t::service_of("b", rows, arrivals(150))},
        {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(0, "3g.40gb", 4), {1})}, 1);
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
    session_->begin();
    const auto read = [this](const auto& reading) -> StoreResult<void> {
      if (is_off_) return tl::unexpected(StoreError{StoreFault::kForeign, "series.db is another program's"});
      return reading(*store_.reader);
    };
    api_ = std::make_unique<Api>(*session_, lock_,
                                 ApiOptions{.key = "k",
                                            .epoch = {kSeriesEpoch},
                                            .page = "",
                                            .driver_status = [] { return DriverStatus(); },
                                            .series = {.read = read}});
    while (session_->advance(Instant::at_second(kSeconds))) {
    }
  }

  /// Stores a second as edges::SeriesQueue does.
  void keep(SeriesSpan second) {
    SeriesBatch batch;
    if (auto total = total_of(second)) second.services.push_back(std::move(*total));
    if (auto minute = minutes_.add(second)) batch.minutes = {std::move(*minute)};
    batch.seconds = {std::move(second)};
    ASSERT_TRUE(store_.writer->append(batch));
  }

  Json get(std::vector<HttpField> query, int status = 200) {
    const HttpRequest request{.method = "GET",
                              .path = {"v1", "series"},
                              .query = std::move(query),
                              .headers = {{"Authorization", "Bearer k"}},
                              .body = "",
                              .peer = ""};
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
  static std::string second(std::int64_t at) { return WorldEpoch{kSeriesEpoch}.text(Instant::at_second(at)); }

  edges::FairMutex lock_;
  SeriesStore store_ = berth::testing::open_memory_series(std::make_shared<berth::testing::MemorySeries>());
  live::SeriesMinutes minutes_;
  bool is_off_ = false;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<Api> api_;
};

TEST_F(SeriesApi, AServiceHasPointsOfAMinute) {
  const Json items = get({{"service", "a/a"}})["items"];
  ASSERT_EQ(items.size(), 3U);
  const Json& first = items[0];
  EXPECT_EQ(first["from"], second(0));
  EXPECT_EQ(first["to"], second(60));
  EXPECT_EQ(first["seconds"], 60);
  EXPECT_EQ(first["requests"], 20 * 60);
  EXPECT_EQ(first["in_time"].get<int>() + first["late"].get<int>(), 20 * 60);
  EXPECT_EQ(first["dropped"], 0);
  EXPECT_GT(first["goodput"], 0.9);
  EXPECT_NEAR(first["latency_p50_ms"].get<double>(), 10, 1);
  EXPECT_LT(first["queue_max"], 3);
  EXPECT_FALSE(first.contains("busy"));
  EXPECT_EQ(items[2]["seconds"], kSeconds - 120);
  const Json loaded = get({{"service", "b/b"}})["items"][1];
  EXPECT_GT(loaded["queue_max"].get<int>() + loaded["dropped"].get<int>(), 40 * 60);
}

TEST_F(SeriesApi, WithoutAServiceItIsTheFleet) {
  const Json items = get({{"step", "10"}, {"from", second(15)}, {"to", second(31)}})["items"];
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0]["from"], second(10));
  EXPECT_EQ(items[2]["to"], second(40));
  EXPECT_EQ(items[1]["requests"], 170 * 10);
  EXPECT_NEAR(items[1]["allocated"].get<double>(), 84.0 / 108, 0.01);
  EXPECT_GT(items[1]["busy"], 0.4);
  EXPECT_LE(items[1]["effective"], items[1]["busy"]);
  EXPECT_EQ(items[1]["lost_gpus_max"], 0);
  EXPECT_FALSE(items[1].contains("latency_p50_ms"));
  EXPECT_TRUE(items[1].contains("cost_micro_usd_per_hour"));
}

TEST_F(SeriesApi, ItsPagesAreTheWhole) {
  const Json all = get({{"service", "b/b"}, {"step", "20"}})["items"];
  ASSERT_EQ(all.size(), 7U);
  Json in_pages = Json::array();
  std::vector<HttpField> query = {{"service", "b/b"}, {"step", "20"}, {"limit", "3"}};
  while (in_pages.size() < 100) {
    const Json page = get(query);
    for (const Json& item : page["items"]) in_pages.push_back(item);
    if (page["metadata"]["continue"].is_null()) break;
    query.resize(3);
    query.push_back({"continue", page["metadata"]["continue"]});
  }
  EXPECT_EQ(in_pages, all);
}

TEST_F(SeriesApi, RefusesWhatItCannotRead) {
  EXPECT_EQ(get({{"service", "a"}}, 400)["error"]["wanted"], "TENANT/NAME");
  EXPECT_EQ(get({{"service", "a/x"}}, 404)["error"]["code"], "not_found");
  for (const char* step : {"0", "7", "90", "86460", "-60", "x"}) {
    EXPECT_EQ(get({{"step", step}}, 400)["error"]["found"], step);
  }
  EXPECT_EQ(get({{"from", "yesterday"}}, 400)["error"]["field"], "from");
  EXPECT_EQ(get({{"from", second(5)}, {"to", second(5)}}, 400)["error"]["field"], "to");
  EXPECT_EQ(get({{"since", "1"}}, 400)["error"]["wanted"], "service, from, to, step, limit or continue");
  EXPECT_TRUE(get({{"from", second(kSeconds + 100)}})["items"].empty());
  is_off_ = true;
  const Json off = get({}, 503)["error"];
  EXPECT_EQ(off["code"], "series_unavailable");
  EXPECT_THAT(off["message"], HasSubstr("another program's"));
}

}  // namespace
}  // namespace berth::api
