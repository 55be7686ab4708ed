// Usage as a client of the API sees it: two GPUs whose layout is fixed, one of which is lost for some seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/usage_text.h"
#include "sim/world/testing/scenarios.h"
#include "surface/api/api.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr std::int64_t kUsageEpoch = 1'763'800'000'000'000;

Scenario used_gpus() {
  namespace t = sim::testing;
  const ServiceSpec service = t::service_of("a", {{.profile = "3g.40gb", .latency_ms = 10}},
                                            t::generated(Generator::Kind::kConstant, Decimal(20), 60));
  return t::scenario_of(
      {service}, {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(1, "3g.40gb", 4), {0})},
      2);
}

class UsageApi : public ::testing::Test {
 protected:
  UsageApi() {
    live::SessionOptions options;
    options.policy = "fixed";
    options.listener.usage = [this](const live::UsageInterval& interval) {
      const UsageKey key{
          .gpu = interval.gpu.index, .start = interval.what.part.start, .from_us = interval.what.from.micros()};
      kept_[key] = {.key = key,
                    .units = interval.what.part.units,
                    .to_us = interval.to.micros(),
                    .sequence = interval.what.sequence,
                    .body = live::usage_body(session_->scenario(), interval)};
    };
    session_ = std::move(*live::Session::make(used_gpus(), std::move(options)));
    session_->begin();
    api_ = std::make_unique<Api>(
        *session_, lock_,
        ApiOptions{.key = "k",
                   .epoch = {kUsageEpoch},
                   .page = "",
                   .driver_status = [] { return DriverStatus(); },
                   .usage = {.unrecorded = [this] { return unrecorded_; },
                             .read = [this](const UsageSpan& span, const auto& after,
                                            std::size_t count_max) { return read(span, after, count_max); }}});
    run_to(10);
    inject(sim::FaultKind::kLose);
    run_to(20);
    inject(sim::FaultKind::kReturn);
    run_to(40);
  }

  StoreResult<std::vector<UsageRow>> read(const UsageSpan& span, const std::optional<UsageKey>& after,
                                          std::size_t count_max) {
    if (is_unreadable_) return tl::unexpected(StoreError{StoreFault::kFailed, "no luck"});
    if (when_read_) when_read_();
    std::vector<UsageRow> rows;
    for (const auto& [key, row] : kept_) {
      const bool is_asked = key.from_us < span.to_us && row.to_us > span.from_us && (!after || key > *after);
      if (is_asked && rows.size() < count_max) rows.push_back(row);
    }
    return rows;
  }

  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
  }
  void inject(sim::FaultKind kind, GpuId gpu = {0}) {
    sim::FaultOrder order;
    order.kind = kind;
    order.gpus = {gpu};
    ASSERT_TRUE(session_->inject(order).has_value());
  }

  Json get(std::vector<HttpField> query, int status = 200) {
    const HttpRequest request{.method = "GET",
                              .path = {"v1", "usage"},
                              .query = std::move(query),
                              .headers = {{"Authorization", "Bearer k"}},
                              .body = "",
                              .peer = ""};
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
  static std::string second(std::int64_t at) { return WorldEpoch{kUsageEpoch}.text(Instant::at_second(at)); }

  /// Units times microseconds of the items, by GPU.
  static std::map<std::string, std::int64_t> unit_micros(const Json& items, std::int64_t now) {
    std::map<std::string, std::int64_t> sums;
    for (const Json& item : items) {
      const std::int64_t from = WorldEpoch{kUsageEpoch}.parse(item["from"].get<std::string>())->micros();
      const std::int64_t to = item["to"].is_null()
                                  ? Instant::at_second(now).micros()
                                  : WorldEpoch{kUsageEpoch}.parse(item["to"].get<std::string>())->micros();
      sums[item["gpu"]] += item["units"].get<std::int64_t>() * (to - from);
    }
    return sums;
  }

  edges::FairMutex lock_;
  std::map<UsageKey, UsageRow> kept_;
  std::vector<UsageRow> unrecorded_;
  bool is_unreadable_ = false;
  std::function<void()> when_read_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<Api> api_;
};

TEST_F(UsageApi, CoversEachUnitUntilNow) {
  const Json items = get({})["items"];
  const std::int64_t all = 8 * Instant::at_second(40).micros();
  EXPECT_EQ(unit_micros(items, 40), (std::map<std::string, std::int64_t>{{"gpu-0", all}, {"gpu-1", all}}));
  EXPECT_EQ(items[0]["from"], second(0));
  EXPECT_EQ(items[0]["to"], second(10));
  EXPECT_EQ(items[0]["open"], false);
  EXPECT_EQ(items[0]["state"], "held");
  EXPECT_EQ(items[0]["service"], "a");
  EXPECT_EQ(items[0]["profile"], "3g.40gb");
  const Json& last = items.back();
  EXPECT_EQ(last["gpu"], "gpu-1");
  EXPECT_EQ(last["start"], 4);
  EXPECT_EQ(last["to"], Json());
  EXPECT_EQ(last["open"], true);
}

TEST_F(UsageApi, SaysWhatIsOnTheBill) {
  const Json items = get({})["items"];
  for (const Json& item : items) {
    EXPECT_EQ(item["observed"], true);
    EXPECT_EQ(item["capacity"], 56);
    const Json weight = item["state"] == "free" ? Json() : item["state"] == "lost" ? Json(56) : Json(28);
    EXPECT_EQ(item["weight"], weight) << item;
  }
  EXPECT_EQ(items[0]["units"], 4) << "half of the units, and of the weight of all";
}

TEST_F(UsageApi, SaysWhatWasNotObserved) {
  session_->skip_to(Instant::at_second(100));
  run_to(110);
  const Json items = get({{"from", second(40)}})["items"];
  std::map<std::string, int> unobserved;
  for (const Json& item : items) {
    const bool is_gap = item["from"] == second(40) && item["to"] == second(100);
    EXPECT_EQ(item["observed"], !is_gap) << item;
    if (is_gap) unobserved[item["state"]] += item["units"].get<int>();
  }
  EXPECT_EQ(unobserved, (std::map<std::string, int>{{"free", 8}, {"held", 8}})) << items;
  const std::int64_t all = 8 * Instant::at_second(70).micros();
  EXPECT_EQ(unit_micros(items, 110), (std::map<std::string, std::int64_t>{{"gpu-0", all}, {"gpu-1", all}}));
}

TEST_F(UsageApi, CutsWhatReachesBeyondTheTimesAskedFor) {
  const Json items = get({{"from", second(5)}, {"to", second(15)}})["items"];
  const std::int64_t all = 8 * Instant::at_second(10).micros();
  EXPECT_EQ(unit_micros(items, 40), (std::map<std::string, std::int64_t>{{"gpu-0", all}, {"gpu-1", all}}));
  for (const Json& item : items) {
    EXPECT_GE(item["from"], second(5));
    EXPECT_LE(item["to"], second(15));
    EXPECT_EQ(item["open"], false);
  }
  EXPECT_EQ(get({{"from", second(10)}, {"to", second(11)}})["items"][0]["state"], "lost");
  EXPECT_TRUE(get({{"from", second(41)}})["items"].empty());
  EXPECT_TRUE(get({{"to", second(0)}})["items"].empty());
}

TEST_F(UsageApi, ItsPagesAreTheWhole) {
  const Json all = get({{"from", second(3)}})["items"];
  ASSERT_GT(all.size(), 4U);
  Json in_pages = Json::array();
  std::vector<HttpField> query = {{"from", second(3)}, {"limit", "2"}};
  while (in_pages.size() < 100) {
    const Json page = get(query);
    EXPECT_LE(page["items"].size(), 2U);
    for (const Json& item : page["items"]) in_pages.push_back(item);
    if (page["metadata"]["continue"].is_null()) break;
    query = {{"from", second(3)}, {"limit", "2"}, {"continue", page["metadata"]["continue"]}};
  }
  EXPECT_EQ(in_pages, all);
}

TEST_F(UsageApi, ItsPagesAreTheWholeAsOfTheFirstOneAlsoWhenAllChangesInBetween) {
  const Json all = get({{"from", second(3)}})["items"];
  Json in_pages = Json::array();
  std::vector<HttpField> query = {{"from", second(3)}, {"limit", "1"}};
  std::int64_t now = 40;
  while (in_pages.size() < 100) {
    const Json page = get(query);
    for (const Json& item : page["items"]) in_pages.push_back(item);
    if (page["metadata"]["continue"].is_null()) break;
    query = {{"from", second(3)}, {"limit", "1"}, {"continue", page["metadata"]["continue"]}};
    // A GPU without its slices is one row, at unit 0.
    for (const GpuId gpu : {GpuId{0}, GpuId{1}})
      inject(now % 20 == 0 ? sim::FaultKind::kLose : sim::FaultKind::kReturn, gpu);
    run_to(now += 10);
  }
  EXPECT_EQ(in_pages, all);
  EXPECT_NE(get({{"from", second(3)}})["items"], all) << "something has changed";
}

TEST_F(UsageApi, AMadeUpTokenIsRefusedOrHarmless) {
  const Json all = get({})["items"];
  const std::vector<std::string> path = {"v1", "usage"};
  for (const char* text :
       {"", "x", "0 0 0", "0 0 0 0 0", "0 0 0 0 ", "0 0  0", "4294967296 0 0 0", "-1 0 0 0", "0 0 0 1e9"}) {
    const Json refused = get({{"continue", page_token(path, text)}}, 400);
    EXPECT_EQ(refused["error"]["field"], "continue") << text;
  }
  EXPECT_EQ(get({{"continue", page_token(path, "0 0 -1 9223372036854775807")}})["items"], all) << "nothing of later";
  EXPECT_TRUE(get({{"continue", page_token(path, "0 0 -1 -9223372036854775808")}})["items"].empty());
  EXPECT_TRUE(get({{"continue", page_token(path, "4294967295 0 0 99999999")}})["items"].empty());
}

TEST_F(UsageApi, WhatIsNotRecordedYetIsThereToo) {
  const Json all = get({})["items"];
  while (unrecorded_.size() < 3) {
    unrecorded_.push_back(std::prev(kept_.end())->second);
    kept_.erase(std::prev(kept_.end()));
  }
  EXPECT_EQ(get({})["items"], all);
  EXPECT_EQ(get({{"limit", "500"}, {"from", second(2)}})["items"].size(), all.size());
}

TEST_F(UsageApi, IsThatOfTheMomentAlsoWhenTheWorldGoesOnMeanwhile) {
  when_read_ = [this] {
    when_read_ = nullptr;
    inject(sim::FaultKind::kLose);
    run_to(50);
    inject(sim::FaultKind::kReturn);
    run_to(60);
  };
  const Json items = get({})["items"];
  const std::int64_t all = 8 * Instant::at_second(40).micros();
  EXPECT_EQ(unit_micros(items, 40), (std::map<std::string, std::int64_t>{{"gpu-0", all}, {"gpu-1", all}}));
}

TEST_F(UsageApi, RefusesWhatItCannotRead) {
  EXPECT_EQ(get({{"from", "yesterday"}}, 400)["error"]["field"], "from");
  EXPECT_EQ(get({{"to", "2026-11-22"}}, 400)["error"]["field"], "to");
  EXPECT_EQ(get({{"from", second(5)}, {"to", second(5)}}, 400)["error"]["field"], "to");
  EXPECT_EQ(get({{"since", second(5)}}, 400)["error"]["wanted"], "from, to, limit or continue");
  EXPECT_EQ(get({{"from", second(5)}, {"from", second(6)}}, 400)["error"]["field"], "from");
  EXPECT_EQ(get({{"limit", "501"}}, 400)["error"]["field"], "limit");
  is_unreadable_ = true;
  EXPECT_THAT(get({}, 500)["error"]["message"], HasSubstr("no luck"));
}

}  // namespace
}  // namespace berth::api
