#include "surface/api/api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "domain/values/snapshot.h"
#include "live/session/demo.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "surface/api/page.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;

/// The demo, some seconds after its start.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    session_ = std::move(*live::Session::make(live::demo_scenario(), {}));
    session_->begin();
    // The driver is asked while an answer is formatted: then the session's lock is free.
    const auto driver_status = [this] {
      is_lock_free_ = lock_.users() == 0;
      return DriverStatus{};
    };
    api_.emplace(*session_, lock_,
                 ApiOptions{.key = "secret",
                            .epoch = {},
                            .page = page_html(),
                            .driver_status = driver_status,
                            .login = {.token = "token", .key = "once", .token_age = [this] { return token_age_; }}});
  }

  void lose(GpuId gpu) {
    sim::FaultOrder order;
    order.kind = sim::FaultKind::kLose;
    order.gpus = {gpu};
    ASSERT_TRUE(session_->inject(order));
  }

  void advance_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
    }
  }

  HttpResponse ask(const std::string& method, std::vector<std::string> path, std::vector<HttpField> query = {},
                   const std::string& body = "", std::vector<HttpField> headers = {}) {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.query = std::move(query);
    request.headers = std::move(headers);
    request.headers.push_back({"Authorization", "Bearer secret"});
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.body = body;
    const HttpAnswer answer = api_->answer(request);
    return std::holds_alternative<HttpResponse>(answer) ? std::get<HttpResponse>(answer) : HttpResponse{};
  }
  Json get(std::vector<std::string> path, std::vector<HttpField> query = {}) {
    const HttpResponse response = ask("GET", std::move(path), std::move(query));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  std::set<std::string> event_kinds() {
    std::set<std::string> kinds;
    const live::EventLog& log = session_->events();
    for (const live::LoggedEvent& event : log.after(log.oldest_sequence() - 1, live::EventLog::kCapacity)) {
      kinds.insert(std::string(live::event_word(event.kind)));
    }
    return kinds;
  }

  /// The status of GET /v1/status with this key.
  int status_with(const std::string& key) {
    HttpRequest request;
    request.method = "GET";
    request.path = {"v1", "status"};
    request.headers = {{"Authorization", "Bearer " + key}};
    return std::get<HttpResponse>(api_->answer(request)).status;
  }
  /// A login, without any key.
  HttpResponse log_in(const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.path = {"v1", "login"};
    request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    return std::get<HttpResponse>(api_->answer(request));
  }

  bool is_lock_free_ = false;  ///< when the driver was last asked
  Micros token_age_ = Micros::seconds(1);
  edges::FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  std::optional<Api> api_;
};

TEST_F(ApiTest, FiguresAreUnknownBeforeTheFirstSecond) {
  const Json status = get({"v1", "status"});
  EXPECT_TRUE(status["funnel"]["allocated"].is_null());
  EXPECT_TRUE(status["goodput"].is_null());
  EXPECT_EQ(status["cost_micro_usd_per_hour"], 4 * 3'673'000 + 2 * 6'880'000 + 2 * 1'100'000);
  EXPECT_TRUE(get({"v1", "services"})["items"][0]["status"]["last_minute"].is_null());
}

TEST_F(ApiTest, ServicesHaveAllKeysOfTheirStatus) {
  advance_to(70);
  const Json services = get({"v1", "services"});
  for (const Json& service : services["items"]) {
    for (const char* key : {"name", "namespace", "uid", "resourceVersion", "labels", "creationTimestamp"}) {
      EXPECT_TRUE(service["metadata"].contains(key)) << key;
    }
    const Json& status = service["status"];
    EXPECT_EQ(status["phase"], "Running");
    std::vector<std::string> types;
    for (const Json& condition : status["conditions"]) {
      types.push_back(condition["type"]);
      for (const char* key : {"status", "reason", "message", "since"}) EXPECT_TRUE(condition[key].is_string()) << key;
    }
    EXPECT_EQ(types, (std::vector<std::string>{"Placed", "Serving", "FloorMet", "InTime"}));
    EXPECT_GT(status["capacity_requests_per_second"], 0);
    EXPECT_GT(status["needed_requests_per_second"], 0);
    EXPECT_GT(status["needed_slices"], 0);
    EXPECT_EQ(status["agreed_attainment"], 0.95);
    const bool is_kept =
        status["last_minute"]["in_time"].get<double>() >= 0.95 * status["last_minute"]["requests"].get<double>();
    EXPECT_EQ(status["conditions"][3]["status"], is_kept ? "True" : "False");
    const Json& minute = status["last_minute"];
    EXPECT_GT(minute["requests"], 0);
    EXPECT_GT(minute["goodput"], 0);
    EXPECT_LE(minute["goodput"], 1);
    EXPECT_LE(minute["in_time"].get<int>() + minute["late"].get<int>() + minute["dropped"].get<int>(),
              minute["requests"].get<int>());
    EXPECT_GT(minute["latency_p50_ms"], 0);
    EXPECT_GE(minute["latency_p99_ms"], minute["latency_p50_ms"]);
    for (const Json& slice : status["slices"]) {
      for (const char* key : {"gpu", "profile", "start", "role", "state"}) EXPECT_TRUE(slice.contains(key)) << key;
    }
  }
  const Json funnel = get({"v1", "status"})["funnel"];
  EXPECT_GT(funnel["effective"], 0);
  EXPECT_LE(funnel["effective"], funnel["busy"]);
  EXPECT_LE(funnel["busy"], funnel["allocated"]);
  EXPECT_LE(funnel["allocated"], 1);
}

TEST_F(ApiTest, AnOrderAboutANodeHoldsForAllItsGpusAtOnce) {
  advance_to(5);
  const Json before = get({"v1", "nodes", "node-1"});
  EXPECT_EQ(before["status"]["scheduling"], "open");
  EXPECT_EQ(before["status"]["gpus"].size(), 2U);
  const HttpResponse answer = ask("POST", {"v1", "nodes", "node-1", "drain"}, {}, R"({"reason":"repair"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json node = Json::parse(answer.body);
  EXPECT_EQ(node["status"]["scheduling"], "draining");
  EXPECT_EQ(node["status"]["scheduling_reason"], "repair");
  // A GPU without slices is drained at once.
  for (const Json& gpu : node["status"]["gpus"]) EXPECT_NE(gpu["scheduling"], "open");
  EXPECT_NE(get({"v1", "gpus", "gpu-4"})["status"]["scheduling"], "open");
  EXPECT_EQ(node["status"]["drained"], false);
  advance_to(120);
  const Json drained = get({"v1", "nodes", "node-1"})["status"];
  EXPECT_EQ(drained["scheduling"], "cordoned");
  EXPECT_EQ(drained["drained"], true);
  for (const Json& gpu : drained["gpus"]) EXPECT_EQ(gpu["drained"], true);
  EXPECT_TRUE(event_kinds().contains("GpuDrained"));
  EXPECT_EQ(ask("POST", {"v1", "nodes", "node-1", "uncordon"}).status, 200);
  advance_to(125);
  EXPECT_EQ(get({"v1", "nodes", "node-1"})["status"]["scheduling"], "open");
  EXPECT_EQ(get({"v1", "nodes", "node-1"})["status"]["drained"], false);
}

TEST_F(ApiTest, EventsAreAlsoAList) {
  advance_to(60);
  const std::uint64_t last = session_->last_safe_event();
  ASSERT_GT(last, 5U);
  std::vector<std::uint64_t> sequences;
  std::vector<HttpField> query = {{"limit", "2"}};
  while (true) {
    const Json page = get({"v1", "events"}, query);
    EXPECT_LE(page["items"].size(), 2U);
    for (const Json& event : page["items"]) sequences.push_back(event["sequence"]);
    if (page["metadata"]["continue"].is_null()) break;
    query = {{"limit", "2"}, {"continue", page["metadata"]["continue"]}};
  }
  ASSERT_EQ(sequences.size(), last);
  for (std::size_t i = 0; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], i + 1);
  const Json newest = get({"v1", "events"}, {{"after", std::to_string(last - 1)}});
  ASSERT_EQ(newest["items"].size(), 1U);
  EXPECT_EQ(newest["items"][0]["sequence"], last);
  EXPECT_TRUE(get({"v1", "events"}, {{"after", "999999"}})["items"].empty());
  for (const auto& [name, value] :
       {std::pair("after", "x"), std::pair("limit", "0"), std::pair("kind", "GpuLost"), std::pair("continue", "00")}) {
    EXPECT_EQ(ask("GET", {"v1", "events"}, {{name, value}}).status, 400) << name;
  }
}

TEST_F(ApiTest, OnlyAFinishedDrainIsDrained) {
  advance_to(5);
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-5", "cordon"}, {}, R"({"reason":"fans"})").status, 200);
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-4", "drain"}, {}, R"({"reason":"fans"})").status, 200);
  advance_to(120);
  EXPECT_EQ(get({"v1", "gpus", "gpu-4"})["status"]["drained"], true);
  EXPECT_EQ(get({"v1", "gpus", "gpu-5"})["status"]["drained"], false);
  EXPECT_EQ(get({"v1", "nodes", "node-1"})["status"]["drained"], false);
  const Json fleet = get({"v1", "overview"})["fleet"];
  EXPECT_EQ(fleet["cordoned"], 2);
  EXPECT_EQ(fleet["drained"], 1);
  // Another order that keeps it closed leaves it as empty as it was.
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-4", "cordon"}, {}, R"({"reason":"parts"})").status, 200);
  advance_to(125);
  EXPECT_EQ(get({"v1", "gpus", "gpu-4"})["status"]["drained"], true);
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-4", "uncordon"}).status, 200);
  EXPECT_EQ(get({"v1", "gpus", "gpu-4"})["status"]["drained"], false);
}

TEST_F(ApiTest, ToOpenWhatIsOpenChangesNothing) {
  advance_to(5);
  const Json before = get({"v1", "gpus", "gpu-1"});
  EXPECT_EQ(ask("POST", {"v1", "gpus", "gpu-1", "uncordon"}).status, 200);
  EXPECT_EQ(get({"v1", "gpus", "gpu-1"}), before);
  advance_to(6);
  EXPECT_EQ(get({"v1", "gpus", "gpu-1"})["status"]["scheduling_since"], before["status"]["scheduling_since"]);
  EXPECT_FALSE(event_kinds().contains("GpuUncordoned"));
}

TEST_F(ApiTest, ABodyThatIsEncodedIsRefused) {
  const std::string body = R"({"reason":"repair"})";
  const std::vector<std::string> path = {"v1", "gpus", "gpu-1", "cordon"};
  EXPECT_EQ(ask("POST", path, {}, body, {{"Content-Encoding", "gzip"}}).status, 415);
  EXPECT_EQ(ask("POST", path, {}, body, {{"Content-Encoding", "identity"}}).status, 200);
}

TEST_F(ApiTest, ANodeIsLostWhenAllItsGpusAre) {
  advance_to(5);
  lose({4});
  advance_to(6);
  const Json half = get({"v1", "nodes", "node-1"})["status"];
  EXPECT_EQ(half["health"], "ok");
  EXPECT_EQ(half["health_reason"], "1 of 2 GPUs are lost");
  lose({5});
  advance_to(7);
  EXPECT_EQ(get({"v1", "nodes", "node-1"})["status"]["health"], "lost");
}

TEST_F(ApiTest, AFaultThatWaitsIsAnObject) {
  const Json body{{"kind", "fail_create"}, {"gpu", "gpu-1"}};
  ASSERT_EQ(ask("POST", {"v1", "sim", "faults"}, {}, body.dump()).status, 201);
  const Json fault = get({"v1", "sim", "faults"})["items"][0];
  EXPECT_EQ(fault["kind"], "Fault");
  EXPECT_EQ(fault["metadata"]["uid"].get<std::string>().size(), 36U);
  EXPECT_EQ(fault["spec"]["gpu"], "gpu-1");
  EXPECT_EQ(fault["status"]["actions_left"], 1);
}

TEST_F(ApiTest, TheSchemeOfTheKeyIsInAnyCase) {
  for (const auto& [value, status] : std::vector<std::pair<std::string, int>>{{"Bearer secret", 200},
                                                                              {"bearer secret", 200},
                                                                              {"BEARER secret", 200},
                                                                              {"bearer Secret", 401},
                                                                              {"bearer", 401},
                                                                              {"Basic secret", 401},
                                                                              {"", 401}}) {
    HttpRequest request;
    request.method = "GET";
    request.path = {"v1", "status"};
    request.headers = {{"Authorization", value}};
    EXPECT_EQ(std::get<HttpResponse>(api_->answer(request)).status, status) << value;
  }
}

TEST_F(ApiTest, ALoginAddressGivesAKeyOnce) {
  EXPECT_EQ(status_with("once"), 401) << "nobody was given it";
  EXPECT_EQ(log_in(R"({"token":"tokem"})").status, 401);
  const HttpResponse first = log_in(R"({"token":"token"})");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(Json::parse(first.body), Json({{"key", "once"}}));
  EXPECT_EQ(find_header(first.headers, "Cache-Control"), "no-store");
  EXPECT_EQ(status_with("once"), 200);
  const HttpResponse second = log_in(R"({"token":"token"})");
  EXPECT_EQ(second.status, 401);
  EXPECT_EQ(Json::parse(second.body)["error"]["code"], "login_unusable");
  EXPECT_EQ(second.body.find("once"), std::string::npos);
  EXPECT_EQ(status_with("once"), 200) << "who logged in stays so";
  EXPECT_EQ(status_with("token"), 401);
}

TEST_F(ApiTest, AnOldLoginAddressGivesNothing) {
  token_age_ = Micros::seconds(601);
  EXPECT_EQ(log_in(R"({"token":"token"})").status, 401);
  EXPECT_EQ(status_with("once"), 401);
}

TEST_F(ApiTest, ALoginThatIsMalformedIsRefused) {
  for (const auto& [body, status] : std::vector<std::pair<std::string, int>>{
           {"", 400}, {"{", 400}, {"{}", 422}, {R"({"token":1})", 422}, {R"({"token":"token","x":1})", 422}}) {
    EXPECT_EQ(log_in(body).status, status) << body;
  }
  EXPECT_EQ(log_in(R"({"token":"token"})").status, 200) << "it was not used up";
}

TEST_F(ApiTest, ALostGpuKeepsItsSlicesInSight) {
  advance_to(30);
  const std::size_t standing = session_->snapshot().slices.size();
  const Json before = get({"v1", "slices"}, {{"limit", "500"}})["items"];
  ASSERT_EQ(before.size(), standing);
  ASSERT_EQ(ask("POST", {"v1", "sim", "faults"}, {}, R"({"kind":"lose","gpu":"gpu-2"})").status, 201);
  const auto states = [&] {
    std::map<std::string, std::string> named;  // by name
    std::vector<HttpField> query{{"limit", "2"}};
    while (true) {
      const Json page = get({"v1", "slices"}, query);
      for (const Json& slice : page["items"]) named[slice["metadata"]["name"]] = slice["status"]["state"];
      if (page["metadata"]["continue"].is_null()) return named;
      query = {{"limit", "2"}, {"continue", page["metadata"]["continue"]}};
    }
  }();
  std::size_t lost = 0;
  for (const Json& slice : before) {
    if (slice["status"]["gpu"] != "gpu-2") continue;
    ++lost;
    EXPECT_EQ(states.at(slice["metadata"]["name"]), "lost");
    const Json service = get({"v1", "tenants", slice["status"]["tenant"], "services", slice["status"]["service"]});
    const Json& slices = service["status"]["slices"];
    EXPECT_TRUE(std::ranges::any_of(slices, [](const Json& each) { return each["state"] == "lost"; })) << service;
  }
  ASSERT_GT(lost, 0U);
  EXPECT_EQ(get({"v1", "gpus", "gpu-2"})["status"]["allocated_units"], 0);
  EXPECT_EQ(get({"v1", "overview"})["gpus"][2]["slices"].size(), lost);
  ask("POST", {"v1", "sim", "faults"}, {}, R"({"kind":"return","gpu":"gpu-2"})");
  const Json after = get({"v1", "slices"}, {{"limit", "500"}})["items"];
  for (const Json& slice : after) EXPECT_NE(slice["status"]["state"], "lost");
}

TEST_F(ApiTest, SlicesOfOthersCountAsAllocated) {
  ASSERT_EQ(ask("POST", {"v1", "gpus", "gpu-2", "drain"}, {}, R"({"reason":"empty it"})").status, 200);
  advance_to(120);
  ASSERT_EQ(get({"v1", "gpus", "gpu-2"})["status"]["allocated_units"], 0);
  ASSERT_EQ(ask("POST", {"v1", "sim", "faults"}, {},
                R"({"kind":"foreign_slice","gpu":"gpu-2","profile":"3g.40gb","start":4})")
                .status,
            201);
  advance_to(121);
  EXPECT_EQ(get({"v1", "gpus", "gpu-2"})["status"]["allocated_units"], 4);
  EXPECT_TRUE(get({"v1", "gpus", "gpu-2"})["status"]["unprofiled_reason"].is_null());
}

TEST_F(ApiTest, AReasonIsRequired) {
  for (const char* verb : {"cordon", "drain"}) {
    EXPECT_EQ(ask("POST", {"v1", "nodes", "node-1", verb}, {}, "{}").status, 422);
    EXPECT_EQ(ask("POST", {"v1", "nodes", "node-1", verb}, {}, R"({"reason":""})").status, 422);
    EXPECT_EQ(ask("POST", {"v1", "nodes", "node-1", verb}, {}, R"({"reason":"a","x":1})").status, 422);
    EXPECT_EQ(ask("POST", {"v1", "nodes", "node-1", verb}, {}, "{").status, 400);
    const HttpResponse two_lines = ask("POST", {"v1", "nodes", "node-1", verb}, {}, R"({"reason":"a\nb"})");
    EXPECT_EQ(two_lines.status, 422);
    EXPECT_EQ(Json::parse(two_lines.body)["error"]["found"], "control characters, such as a line feed");
  }
  EXPECT_EQ(get({"v1", "nodes", "node-1"})["status"]["scheduling"], "open");
}

TEST_F(ApiTest, WhatIsNotThereIs404) {
  for (const char* name : {"node-9", "node-01", "node-", "node--1", "gpu-1", "node-4294967296"}) {
    EXPECT_EQ(ask("GET", {"v1", "nodes", name}).status, 404) << name;
    EXPECT_EQ(ask("POST", {"v1", "nodes", name, "uncordon"}).status, 404) << name;
  }
  EXPECT_EQ(ask("GET", {"v1", "gpus", ""}).status, 404);
  EXPECT_EQ(ask("GET", {"v1", "gpus", "gpu-1/../gpu-2"}).status, 404);
  EXPECT_EQ(ask("DELETE", {"v1", "nodes", "node-1"}).status, 405);
}

TEST_F(ApiTest, SlicesComeInPagesWithoutRepetition) {
  advance_to(90);
  std::set<std::string> names;
  std::vector<HttpField> query{{"limit", "3"}};
  while (true) {
    const Json page = get({"v1", "slices"}, query);
    for (const Json& slice : page["items"]) EXPECT_TRUE(names.insert(slice["metadata"]["name"]).second);
    if (page["metadata"]["continue"].is_null()) break;
    query = {{"limit", "3"}, {"continue", page["metadata"]["continue"]}};
  }
  EXPECT_EQ(names.size(), session_->snapshot().slices.size());
}

TEST_F(ApiTest, ParametersThatAPathDoesNotKnowAre400) {
  for (const auto& path : std::vector<std::vector<std::string>>{
           {"v1", "status"}, {"v1", "gpus"}, {"v1", "gpus", "gpu-1"}, {"v1", "nodes", "node-1"}, {"v1", "events"}}) {
    const HttpResponse response = ask("GET", path, {{"x", "1"}});
    EXPECT_EQ(response.status, 400) << response.body;
  }
}

TEST_F(ApiTest, StatusAndOverviewCountTheServicesThatMissTheirShare) {
  const Json before = get({"v1", "status"})["services"];
  EXPECT_EQ(before["unknown"], 6);
  advance_to(30);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) lose({gpu});
  advance_to(120);
  const Json overview = get({"v1", "overview"});
  EXPECT_EQ(overview["status"]["services"], (Json{{"in_time", 0}, {"not_in_time", 6}, {"unknown", 0}}));
  for (const Json& service : overview["services"]) {
    EXPECT_EQ(service["conditions"]["InTime"]["status"], "False");
    EXPECT_GT(service["needed"], service["serving"]);
    EXPECT_EQ(service["agreed"], 0.95);
  }
}

TEST_F(ApiTest, LastEventIdIsANumber) {
  for (const char* id : {"abc", "-1", "1.5", " 1", ""}) {
    EXPECT_EQ(ask("GET", {"v1", "events"}, {}, "", {{"Last-Event-ID", id}}).status, 400) << id;
  }
  EXPECT_EQ(ask("GET", {"v1", "events"}, {}, "", {{"Last-Event-ID", "99999999999999999999999"}}).status, 200);
}

TEST_F(ApiTest, TheOverviewIsBoundedAndGoesOn) {
  advance_to(90);
  const Json page = get({"v1", "overview"});
  EXPECT_EQ(page["gpus"].size(), 8U);
  EXPECT_EQ(page["services"].size(), 6U);
  EXPECT_LE(page["events"].size(), 60U);
  EXPECT_EQ(page["last_event"], session_->events().last_sequence());
  EXPECT_EQ(page["events"].back()["sequence"], page["last_event"]);
  std::size_t slices = 0;
  for (const Json& gpu : page["gpus"]) slices += gpu["slices"].size();
  EXPECT_EQ(slices, session_->snapshot().slices.size());
  const Json next = get({"v1", "overview"}, {{"gpus", "6"}, {"services", "99"}, {"events", page["last_event"].dump()}});
  EXPECT_EQ(next["gpus"].size(), 2U);
  EXPECT_EQ(next["gpus"][0]["name"], "gpu-6");
  EXPECT_TRUE(next["services"].empty());
  EXPECT_TRUE(next["events"].empty());
  EXPECT_EQ(ask("GET", {"v1", "overview"}, {{"gpus", "-1"}}).status, 400);
  EXPECT_EQ(ask("GET", {"v1", "overview"}, {{"gpu", "1"}}).status, 400);
}

TEST_F(ApiTest, TheOverviewShowsOneServiceInDetail) {
  advance_to(90);
  EXPECT_FALSE(get({"v1", "overview"}).contains("focus"));
  const Json focus = get({"v1", "overview"}, {{"service", "vision/captioner"}, {"services", "99"}})["focus"];
  EXPECT_EQ(focus["service"]["tenant"], "vision");
  EXPECT_EQ(focus["service"]["name"], "captioner");
  const Json service = get({"v1", "tenants", "vision", "services", "captioner"});
  ASSERT_FALSE(focus["slices"].empty());
  ASSERT_EQ(focus["slices"].size(), service["status"]["slices"].size());
  for (std::size_t i = 0; i < focus["slices"].size(); ++i) {
    for (const char* key : {"gpu", "profile", "start", "role", "state"}) {
      EXPECT_EQ(focus["slices"][i][key], service["status"]["slices"][i][key]) << key;
    }
  }
  ASSERT_FALSE(focus["plan"].is_null());
  const Json& actions = focus["plan"]["spec"]["actions"];
  ASSERT_FALSE(actions.empty());
  EXPECT_EQ(focus["plan"]["action_count"], actions.size());
  for (const Json& action : actions) {
    EXPECT_TRUE(action["type"] != "assign" || action["service"] == "captioner") << action;
  }
  ASSERT_FALSE(focus["events"].empty());
  for (const Json& event : focus["events"]) {
    const bool is_itself = event["object"]["kind"] == "GpuService" && event["object"]["name"] == "captioner";
    EXPECT_TRUE(is_itself || event["message"].get<std::string>().find("vision/captioner") != std::string::npos)
        << event;
  }
}

TEST_F(ApiTest, TheOverviewOfAServiceThatIsNotThere) {
  const Json page = get({"v1", "overview"}, {{"service", "vision/nothing"}});
  ASSERT_TRUE(page.contains("focus"));
  EXPECT_TRUE(page["focus"].is_null());
  for (const char* name : {"", "vision", "/captioner", "vision/"}) {
    EXPECT_EQ(ask("GET", {"v1", "overview"}, {{"service", name}}).status, 400) << name;
  }
  EXPECT_EQ(ask("GET", {"v1", "overview"}, {{"service", "a/b"}, {"service", "a/b"}}).status, 400);
}

TEST_F(ApiTest, TextsAreMadeWithoutTheLock) {
  for (const char* path : {"status", "overview"}) {
    is_lock_free_ = false;
    get({"v1", path});
    EXPECT_TRUE(is_lock_free_) << path;
  }
}

TEST_F(ApiTest, EveryPathAndMethodHasOneRoute) {
  std::set<std::pair<std::string_view, std::string_view>> routes;
  for (const Route& route : api_routes()) {
    EXPECT_TRUE(routes.emplace(route.method, route.path).second) << route.method << " " << route.path;
    EXPECT_NE(route.answer, nullptr);
  }
  for (const char* path : {"/", "/healthz", "/readyz"}) EXPECT_TRUE(routes.contains({"GET", path})) << path;
  EXPECT_TRUE(routes.contains({"POST", "/v1/login"}));
  EXPECT_EQ(std::ranges::count_if(api_routes(), &Route::is_public), 4);
}

TEST_F(ApiTest, LargeAnswersWithoutRoomMayBeAskedForAgain) {
  const HttpResponse refused = api_->render({HttpFault::kTooManyLargeAnswers, 503, "no room"});
  EXPECT_EQ(Json::parse(refused.body)["error"]["code"], "too_many_large_answers");
  EXPECT_EQ(Json::parse(refused.body)["error"]["message"], "no room");
  EXPECT_EQ(find_header(refused.headers, "Retry-After"), "1");
}

TEST_F(ApiTest, ThePageIsPublicAndCompleteAndHoldsNoKey) {
  HttpRequest request;
  request.method = "GET";
  const auto response = std::get<HttpResponse>(api_->answer(request));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.find("{{"), std::string::npos);
  EXPECT_EQ(response.body.find("secret"), std::string::npos);
  EXPECT_NE(response.body.find("BerthDraw"), std::string::npos);
  EXPECT_EQ(response.body.find("src=\"http"), std::string::npos);
}

}  // namespace
}  // namespace berth::api
