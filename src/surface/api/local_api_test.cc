// The API of a world of real GPUs: what it reports of devices and load, and what it refuses.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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

/// The demo as if its GPUs were real: gpu-0 is managed, the others are observed.
class LocalApi : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static bool has_load() { return GetParam(); }

  void SetUp() override {
    live::SessionOptions options;
    options.has_load = has_load();
    session_ = std::move(*live::Session::make(live::demo_scenario(), std::move(options)));
    session_->begin();
    live::DeviceSource devices{
        .library = [] { return live::DeviceLibraryView{.driver = "580.95", .gpu_count = 8}; },
        .device =
            [](GpuId gpu) {
              live::DeviceView view{.uuid = "GPU-" + std::to_string(gpu.index)};
              if (gpu.index > 0) view.why_observed = "nobody listed it";
              if (gpu.index == 1) view.is_mig_on = view.is_mig_pending_on = true;
              view.differences = {"less memory"};
              if (gpu.index == 0) return view;  // not read yet
              view.measured =
                  GpuMeasurement{.memory_total_mib = 81920, .memory_used_mib = 900, .power_milliwatts = 312'500};
              view.processes.emplace(12, live::DeviceProcessView{.pid = 41, .user = "ann"});
              view.processes->back().slice = Slice{.gpu = gpu, .start = 2, .profile = {0}};
              return view;
            },
        .slice =
            [](const Slice& slice) {
              if (slice.start > 0) return live::DeviceSliceView();
              return live::DeviceSliceView{.uuid = "MIG-" + std::to_string(slice.gpu.index), .memory_mib = 9728};
            },
        .agent_gone = [this] { return agent_gone_; },
        .has_load = has_load()};
    api_.emplace(*session_, lock_,
                 ApiOptions{.key = "secret",
                            .epoch = {},
                            .page = "",
                            .driver_status = [] { return DriverStatus{}; },
                            .devices = std::move(devices)});
    while (session_->advance(Instant::at_second(5))) {
    }
  }

  HttpResponse ask(const std::string& method, std::vector<std::string> path, const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.headers = {{"Authorization", "Bearer secret"}};
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.body = body;
    const HttpAnswer answer = api_->answer(request);
    return std::holds_alternative<HttpResponse>(answer) ? std::get<HttpResponse>(answer) : HttpResponse{};
  }
  Json get(std::vector<std::string> path) {
    const HttpResponse response = ask("GET", std::move(path));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  std::string refusal_of(std::vector<std::string> path, const std::string& body) {
    const HttpResponse response = ask("POST", std::move(path), body);
    EXPECT_EQ(response.status, 409) << response.body;
    return Json::parse(response.body)["error"]["code"];
  }

  edges::FairMutex lock_;
  std::optional<std::string> agent_gone_;
  std::unique_ptr<live::Session> session_;
  std::optional<Api> api_;
};

TEST_P(LocalApi, GpusShowWhatTheyMeasureAndTheirProcesses) {
  const Json unread = get({"v1", "gpus", "gpu-0"})["status"];
  EXPECT_TRUE(unread["measured"].is_null());
  EXPECT_TRUE(unread["processes"].is_null());
  const Json status = get({"v1", "gpus", "gpu-1"})["status"];
  EXPECT_EQ(status["measured"]["memory_used_mib"], 900);
  EXPECT_EQ(status["measured"]["power_watts"], 312.5);
  EXPECT_TRUE(status["measured"]["utilization_percent"].is_null()) << "unknown, not 0";
  ASSERT_EQ(status["processes"].size(), 12U);
  EXPECT_EQ(status["processes"][0]["pid"], 41);
  EXPECT_EQ(status["processes"][0]["user"], "ann");
  EXPECT_TRUE(status["processes"][0]["memory_mib"].is_null());
  EXPECT_TRUE(status["processes"][0]["profile"].is_null()) << "on the whole GPU";
  EXPECT_EQ(status["processes"][11]["profile"], "1g.10gb");
  EXPECT_EQ(status["processes"][11]["start"], 2);
  const Json shown = get({"v1", "overview"})["gpus"][1];
  EXPECT_EQ(shown["measured"], status["measured"]);
  EXPECT_EQ(shown["processes"].size(), 4U) << "bounded";
  EXPECT_EQ(shown["process_count"], 12);
}

TEST_P(LocalApi, WithoutItsAgentItIsNotReady) {
  EXPECT_EQ(ask("GET", {"readyz"}).status, 200);
  EXPECT_TRUE(get({"v1", "status"})["devices"]["agent_reason"].is_null());
  agent_gone_ = "the GPU agent (berth hands) is gone";
  const HttpResponse response = ask("GET", {"readyz"});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(Json::parse(response.body)["error"]["code"], "gpu_agent_gone");
  EXPECT_EQ(Json::parse(response.body)["error"]["message"], *agent_gone_);
  EXPECT_EQ(get({"v1", "status"})["devices"]["agent_reason"], *agent_gone_);
  EXPECT_EQ(ask("GET", {"healthz"}).status, 200);
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-1", "cordon"}, R"({"reason":"why not"})").status, 200);
}

TEST_P(LocalApi, SaysWhatTheLoadIs) {
  const Json load = has_load() ? Json("simulated") : Json(nullptr);
  const Json status = get({"v1", "status"});
  EXPECT_EQ(status["world"], "local");
  EXPECT_EQ(status["load"], load);
  EXPECT_EQ(status["devices"]["driver"], "580.95");
  EXPECT_EQ(status["funnel"]["busy"].is_null(), !has_load());
  EXPECT_EQ(status["funnel"]["effective"].is_null(), !has_load());
  EXPECT_EQ(status["goodput"].is_null(), !has_load());
  const Json services = get({"v1", "services"});
  for (const Json& service : services["items"]) {
    ASSERT_TRUE(service["status"].contains("load"));
    EXPECT_EQ(service["status"]["load"], load);
    EXPECT_EQ(service["status"]["last_minute"].is_null(), !has_load());
  }
  const Json overview = get({"v1", "overview"});
  EXPECT_EQ(overview["fleet"]["observed"], 7);
  EXPECT_EQ(overview["status"]["load"], load);
}

TEST_P(LocalApi, GpusSayWhatTheyAre) {
  const Json first = get({"v1", "gpus", "gpu-0"})["status"];
  EXPECT_EQ(first["uuid"], "GPU-0");
  EXPECT_EQ(first["managed"], true);
  EXPECT_TRUE(first["managed_reason"].is_null());
  EXPECT_TRUE(first["mig"].is_null());
  EXPECT_EQ(first["differences"], Json::array({"less memory"}));
  const Json second = get({"v1", "gpus", "gpu-1"})["status"];
  EXPECT_EQ(second["managed"], false);
  EXPECT_EQ(second["managed_reason"], "nobody listed it");
  EXPECT_EQ(second["mig"], (Json{{"current", "enabled"}, {"pending", "enabled"}}));
}

TEST_P(LocalApi, SlicesSayWhatTheDriverCallsThem) {
  const Json slices = get({"v1", "slices"})["items"];
  ASSERT_FALSE(slices.empty());
  for (const Json& slice : slices) {
    const Json& status = slice["status"];
    const std::string gpu = status["gpu"];
    const bool is_known = status["start"] == 0;
    EXPECT_EQ(status["uuid"], is_known ? Json("MIG-" + gpu.substr(4)) : Json(nullptr));
    EXPECT_EQ(status["memory_mib"], is_known ? Json(9728) : Json(nullptr));
  }
}

TEST_P(LocalApi, RefusesWhatWouldChangeAnObservedGpu) {
  const std::string reason = R"({"reason":"why not"})";
  EXPECT_EQ(refusal_of({"v1", "gpus", "gpu-1", "drain"}, reason), "not_managed");
  EXPECT_EQ(refusal_of({"v1", "gpus", "gpu-1", "uncordon"}, "{}"), "not_managed");
  EXPECT_EQ(refusal_of({"v1", "nodes", "node-0", "drain"}, reason), "not_managed");
  EXPECT_EQ(refusal_of({"v1", "sim", "faults"}, R"({"kind":"lose","gpu":"gpu-1"})"), "not_simulated");
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-0", "drain"}, reason).status, 200);
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-1", "cordon"}, reason).status, 200)
      << "to leave it alone is always allowed";
}

INSTANTIATE_TEST_SUITE_P(Load, LocalApi, ::testing::Bool());

TEST(SimulatedApi, HasNoneOfThat) {
  const auto session = std::move(*live::Session::make(live::demo_scenario(), {}));
  session->begin();
  edges::FairMutex lock;
  Api api(*session, lock,
          ApiOptions{.key = "secret", .epoch = {}, .page = "", .driver_status = [] { return DriverStatus{}; }});
  const auto get = [&](std::vector<std::string> path) {
    HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    request.headers = {{"Authorization", "Bearer secret"}};
    return Json::parse(std::get<HttpResponse>(api.answer(request)).body);
  };
  EXPECT_EQ(get({"v1", "status"})["load"], "simulated");
  EXPECT_FALSE(get({"v1", "services"})["items"][0]["status"].contains("load"));
  EXPECT_FALSE(get({"v1", "gpus"})["items"][0]["status"].contains("uuid"));
  ASSERT_FALSE(get({"v1", "slices"})["items"].empty());
  EXPECT_FALSE(get({"v1", "slices"})["items"][0]["status"].contains("uuid"));
  EXPECT_FALSE(get({"v1", "overview"})["fleet"].contains("observed"));
}

}  // namespace
}  // namespace berth::api
