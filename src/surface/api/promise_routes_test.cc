// Promises as a client of the API sees them: the demo under its planner.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "live/session/demo.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "surface/api/api.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;

class PromisesApi : public ::testing::Test {
 protected:
  PromisesApi() {
    session_ = std::move(*live::Session::make(live::demo_scenario(), {}));
    session_->begin();
    api_ = std::make_unique<Api>(*session_, lock_, ApiOptions{.key = "k", .epoch = {}, .page = "", .driver_status = [] {
                                                                return DriverStatus();
                                                              }});
  }

  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
  }

  Json get(std::vector<HttpField> query = {}) {
    const HttpRequest request{.method = "GET",
                              .path = {"v1", "promises"},
                              .query = std::move(query),
                              .headers = {{"Authorization", "Bearer k"}},
                              .body = "",
                              .peer = ""};
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    EXPECT_EQ(response.status, 200);
    return Json::parse(response.body);
  }

  std::unique_ptr<live::Session> session_;
  edges::FairMutex lock_;
  std::unique_ptr<Api> api_;
};

TEST_F(PromisesApi, ListsChangesInPagesAndSums) {
  const Json empty = get();
  EXPECT_TRUE(empty["items"].empty());
  EXPECT_EQ(empty["last_hour"], Json::parse(R"({"changes":0,"promised":0.0,"achieved":0.0,"share":null,"cuts":0,)"
                                            R"("cuts_promised":0.0,"lost_to_delay":0.0,"lost_share":null})"));
  run_to(450);
  const Json list = get({{.name = "limit", .value = "500"}});
  int judged = 0;
  double promised = 0;
  double achieved = 0;
  std::string last;
  for (const Json& item : list["items"]) {
    EXPECT_TRUE(last.empty() || item["began_at"] <= last) << item;  // newest first
    last = item["began_at"];
    if (item["state"] != "judged") {
      EXPECT_TRUE(item["achieved"].is_null());
      continue;
    }
    ++judged;
    promised += item["promised"].get<double>();
    achieved += item["achieved"].get<double>();
    EXPECT_FALSE(item["judged_at"].is_null());
  }
  EXPECT_GT(judged, 0);
  EXPECT_GT(list["items"].size(), static_cast<std::size_t>(judged));
  for (const char* sums : {"last_hour", "last_day", "counted"}) {
    EXPECT_EQ(list[sums]["changes"], judged);
    EXPECT_NEAR(list[sums]["promised"].get<double>(), promised, 1e-9);
    EXPECT_NEAR(list[sums]["achieved"].get<double>(), achieved, 1e-9);
    EXPECT_NEAR(list[sums]["share"].get<double>(), achieved / promised, 1e-9);
  }
  // The same in pages.
  Json paged = Json::array();
  std::vector<HttpField> query = {{.name = "limit", .value = "3"}};
  for (;;) {
    const Json page = get(query);
    paged.insert(paged.end(), page["items"].begin(), page["items"].end());
    if (page["metadata"]["continue"].is_null()) break;
    query.resize(1);
    query.push_back({.name = "continue", .value = page["metadata"]["continue"]});
  }
  EXPECT_EQ(paged, list["items"]);
}

}  // namespace
}  // namespace berth::api
