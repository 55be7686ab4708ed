// Calibration as a client of the API sees it: the demo under its planner, with one service whose batches are slow.
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

using CalibrationJson = nlohmann::json;

class CalibrationApi : public ::testing::Test {
 protected:
  CalibrationApi() {
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

  CalibrationJson ask(const char* method, std::vector<std::string> path, const std::string& body, int status) {
    const HttpRequest request{.method = method,
                              .path = std::move(path),
                              .query = {},
                              .headers = {{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}},
                              .body = body,
                              .peer = ""};
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    EXPECT_EQ(response.status, status) << response.body;
    return CalibrationJson::parse(response.body);
  }
  CalibrationJson get() { return ask("GET", {"v1", "calibration"}, "", 200); }

  std::unique_ptr<live::Session> session_;
  edges::FairMutex lock_;
  std::unique_ptr<Api> api_;
};

TEST_F(CalibrationApi, ShowsFactorsForecastsAndPromises) {
  run_to(120);
  const CalibrationJson before = get();
  EXPECT_EQ(before["items"].size(), 6U);
  EXPECT_FALSE(before["items"][0]["status"]["speeds"].empty());
  for (const CalibrationJson& item : before["items"]) {
    EXPECT_GE(item["status"]["forecasts"]["judged"], 0);
    for (const CalibrationJson& place : item["status"]["speeds"]) {
      EXPECT_EQ(place["factor"], 1.0);
      EXPECT_EQ(place["measured"], 1.0);
      EXPECT_TRUE(place["recorded"].is_null());
    }
  }
  ask("POST", {"v1", "sim", "faults"}, R"({"kind":"serving","service":"vision/detector","factor":1.5})", 201);
  const CalibrationJson faults = ask("GET", {"v1", "sim", "faults"}, "", 200);
  EXPECT_EQ(faults["items"][0]["spec"],
            CalibrationJson::parse(R"({"kind":"serving","service":"vision/detector","factor":1.5,"jitter":0.0})"));
  run_to(400);
  const CalibrationJson slow = get();
  for (const CalibrationJson& item : slow["items"]) {
    if (item["metadata"]["name"] != "detector") continue;
    EXPECT_EQ(item["metadata"]["namespace"], "vision");
    bool is_any = false;
    for (const CalibrationJson& place : item["status"]["speeds"]) {
      if (place["recorded"].is_null()) continue;
      is_any = true;
      EXPECT_NEAR(place["factor"].get<double>(), 1.5, 0.02);
      EXPECT_EQ(place["used"], true);
    }
    EXPECT_TRUE(is_any);
  }
  ask("POST", {"v1", "sim", "faults"}, R"({"kind":"clear","service":"vision/detector"})", 201);
  EXPECT_TRUE(ask("GET", {"v1", "sim", "faults"}, "", 200)["items"].empty());
}

}  // namespace
}  // namespace berth::api
