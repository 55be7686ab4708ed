// Tenants and services as a client of the API sees them.
#include "surface/api/service_routes.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "surface/api/api.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;

struct ServiceAnswer {
  int status = 0;
  Json body;
};

class ServiceApi : public ::testing::Test {
 protected:
  ServiceApi() { start({}); }

  void start(live::SessionOptions options, std::vector<ServiceSpec> services = {}) {
    api_ = nullptr;  // refers to the session
    Scenario scenario = sim::testing::scenario_of(std::move(services), {}, 2);
    scenario.layout.reset();
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
    session_->begin();
    api_ = std::make_unique<Api>(*session_, lock_, ApiOptions{.key = "k", .epoch = {}, .page = "", .driver_status = [] {
                                                                return DriverStatus();
                                                              }});
  }

  void run_for(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
  }

  ServiceAnswer call(const std::string& method, std::vector<std::string> path, const std::string& body = "",
                     std::vector<HttpField> query = {}) {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.path.insert(request.path.begin(), "v1");
    request.headers = {{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}};
    request.query = std::move(query);
    request.body = body;
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    return {.status = response.status, .body = Json::parse(response.body)};
  }

  static std::string service(std::int64_t target_ms, const std::string& metadata = "{}") {
    return R"({"metadata":)" + metadata + R"(,"spec":{"slo":{"latency_ms":)" + std::to_string(target_ms) +
           R"(},"profile":{"format":"csv","model":"m","rows":[{"model":"m","gpu":"A100-80GB","profile":"1g.10gb",)"
           R"("batch":1,"processes":1,"requests_per_second":50,"latency_ms":20}]},)"
           R"("arrivals":{"format":"poisson","requests_per_second":30,"seconds":60,"repeat":true}}})";
  }

  edges::FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<Api> api_;
};

std::string body_with_labels(int count) {
  Json body;
  for (int i = 0; i < count; ++i) body["metadata"]["labels"]["label-" + std::to_string(i)] = "x";
  return body.dump();
}

TEST_F(ServiceApi, ATenantHasAtMost256Labels) {
  EXPECT_EQ(call("PUT", {"tenants", "t"}, body_with_labels(257)).status, 422);
  EXPECT_EQ(call("PUT", {"tenants", "t"}, body_with_labels(256)).status, 201);
  EXPECT_EQ(call("GET", {"tenants", "t"}).body["metadata"]["labels"].size(), 256U);
}

TEST_F(ServiceApi, AnEmptyWorldIsOrdinary) {
  run_for(20);
  EXPECT_TRUE(call("GET", {"services"}).body["items"].empty());
  EXPECT_EQ(call("GET", {"plans", "current"}).status, 404);
}

TEST_F(ServiceApi, TheDetailOfAServiceHasNothingOfOneWithALongerName) {
  EXPECT_EQ(call("PUT", {"tenants", "t"}, "{}").status, 201);
  for (const char* name : {"a", "a-2"}) {
    EXPECT_EQ(call("PUT", {"tenants", "t", "services", name}, service(100)).status, 201);
  }
  run_for(30);
  for (const char* name : {"a", "a-2"}) {
    const Json focus = call("GET", {"overview"}, "", {{"service", std::string("t/") + name}}).body["focus"];
    std::set<std::string> kinds;
    for (const Json& event : focus["events"]) {
      kinds.insert(event["kind"]);
      const bool is_itself = event["object"]["kind"] == "GpuService";
      EXPECT_EQ(is_itself ? event["object"]["name"] : event["message"], is_itself ? name : std::string("t/") + name);
    }
    EXPECT_TRUE(kinds.contains("ServiceSet") && kinds.contains("SliceServing")) << focus;
    const Json& actions = focus["plan"]["spec"]["actions"];
    ASSERT_FALSE(actions.empty());
    for (const Json& action : actions) {
      EXPECT_TRUE(action["type"] != "assign" || action["service"] == name) << action;
    }
  }
}

TEST_F(ServiceApi, AServiceIsSetServesAndIsGone) {
  run_for(1);
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, service(100)).status, 404);
  EXPECT_EQ(call("PUT", {"tenants", "t"}, R"({"spec":{}})").status, 201);
  EXPECT_EQ(call("PUT", {"tenants", "t"}, R"({"spec":{}})").status, 200);
  const ServiceAnswer created = call("PUT", {"tenants", "t", "services", "a"}, service(100));
  EXPECT_EQ(created.status, 201);
  EXPECT_NE(created.body["status"]["phase"], "Running");  // it needs slices, which take time to create
  run_for(30);
  ServiceAnswer running = call("GET", {"tenants", "t", "services", "a"});
  EXPECT_EQ(running.body["status"]["phase"], "Running");
  EXPECT_GT(running.body["status"]["last_minute"]["in_time"], 0);

  EXPECT_EQ(call("DELETE", {"tenants", "t"}).status, 409);
  EXPECT_EQ(call("DELETE", {"tenants", "t", "services", "a"}).status, 200);
  EXPECT_EQ(call("GET", {"tenants", "t", "services", "a"}).status, 404);
  EXPECT_EQ(call("DELETE", {"tenants", "t", "services", "a"}).status, 404);
  run_for(10);
  EXPECT_TRUE(call("GET", {"slices"}).body["items"].empty());
  EXPECT_EQ(call("DELETE", {"tenants", "t"}).status, 200);

  // Another service takes its place, and inherits nothing.
  EXPECT_EQ(call("PUT", {"tenants", "u"}, "{}").status, 201);
  EXPECT_EQ(call("PUT", {"tenants", "u", "services", "b"}, service(100)).status, 201);
  EXPECT_EQ(session_->scenario().services.size(), 1U);
  EXPECT_TRUE(call("GET", {"tenants", "u", "services", "b"}).body["status"]["last_minute"].is_null());
  run_for(30);
  EXPECT_EQ(call("GET", {"tenants", "u", "services", "b"}).body["status"]["phase"], "Running");
}

TEST_F(ServiceApi, VersionsGrowWithChangesAndAreNeverUsedAgain) {
  call("PUT", {"tenants", "t"}, "{}");
  const auto version = [](const ServiceAnswer& answer) {
    return std::stoi(answer.body["metadata"]["resourceVersion"].get<std::string>());
  };
  const int first = version(call("PUT", {"tenants", "t", "services", "a"}, service(100)));
  EXPECT_EQ(version(call("PUT", {"tenants", "t", "services", "a"}, service(100))), first);
  const ServiceAnswer labelled =
      call("PUT", {"tenants", "t", "services", "a"}, service(100, R"({"labels":{"x":"y"}})"));
  EXPECT_GT(version(labelled), first);
  EXPECT_EQ(labelled.body["metadata"]["labels"]["x"], "y");
  const std::string old = R"({"resourceVersion":")" + std::to_string(first) + R"("})";
  const ServiceAnswer conflict = call("PUT", {"tenants", "t", "services", "a"}, service(200, old));
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body["error"]["wanted"], std::to_string(first));
  EXPECT_EQ(conflict.body["error"]["found"], labelled.body["metadata"]["resourceVersion"]);
  call("DELETE", {"tenants", "t", "services", "a"});
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, service(100, old)).status, 409);
  EXPECT_GT(version(call("PUT", {"tenants", "t", "services", "a"}, service(100))), version(labelled));
}

TEST_F(ServiceApi, WhatWasReadCanBeSentBack) {
  call("PUT", {"tenants", "t"}, "{}");
  call("PUT", {"tenants", "t", "services", "a"}, service(100));
  run_for(10);
  const ServiceAnswer read = call("GET", {"tenants", "t", "services", "a"});
  const ServiceAnswer sent = call("PUT", {"tenants", "t", "services", "a"}, read.body.dump());
  EXPECT_EQ(sent.status, 200) << sent.body;
  EXPECT_EQ(sent.body["metadata"]["resourceVersion"], read.body["metadata"]["resourceVersion"]);
}

TEST_F(ServiceApi, ClientsWhoseNumbersAreDoublesCanSendBackWhatTheyRead) {
  call("PUT", {"tenants", "a"}, "{}");
  std::string body = service(50);
  body.replace(body.find(":50}"), 4, ":33.333333333333333333}");
  ASSERT_EQ(call("PUT", {"tenants", "a", "services", "s"}, body).status, 201);
  const Json read = call("GET", {"tenants", "a", "services", "s"}).body;
  const ServiceAnswer again = call("PUT", {"tenants", "a", "services", "s"}, read.dump());
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body["metadata"]["resourceVersion"], read["metadata"]["resourceVersion"]);
  Json other = read;
  other["spec"]["slo"]["latency_ms"] = 33.5;
  const ServiceAnswer changed = call("PUT", {"tenants", "a", "services", "s"}, other.dump());
  EXPECT_NE(changed.body["metadata"]["resourceVersion"], read["metadata"]["resourceVersion"]);
}

TEST_F(ServiceApi, AnObjectThatIsCreatedAgainHasAnotherUid) {
  call("PUT", {"tenants", "a"}, "{}");
  const Json before = call("PUT", {"tenants", "a", "services", "s"}, service(50)).body;
  call("DELETE", {"tenants", "a", "services", "s"});
  const Json after = call("PUT", {"tenants", "a", "services", "s"}, service(50)).body;
  EXPECT_EQ(after["metadata"]["creationTimestamp"], before["metadata"]["creationTimestamp"]);
  EXPECT_NE(after["metadata"]["uid"], before["metadata"]["uid"]);
}

TEST_F(ServiceApi, BadContentChangesNothing) {
  call("PUT", {"tenants", "t"}, "{}");
  struct Case {
    std::string body;
    int status;
    std::string field;
  };
  for (const Case& each : std::vector<Case>{
           {"{", 400, ""},
           {R"({"spec":{"slo":{"latency_ms":1e999}}})", 400, ""},
           {R"({"specs":{}})", 422, "specs"},
           {R"({"kind":"Tenant"})", 422, "kind"},
           {R"({"metadata":{"name":"b"}})", 422, "metadata.name"},
           {R"({"metadata":{"labels":{"x":5}}})", 422, "metadata.labels.x"},
           {R"({"metadata":{"labels":{"x":"a\u001b[2J"}}})", 422, "metadata.labels.x"},
           {R"({"metadata":{"labels":{"x":"\u009b2J"}}})", 422, "metadata.labels.x"},
           {R"({"metadata":{"labels":{"x":"a\nb"}}})", 422, "metadata.labels.x"},
           {R"({"metadata":{"labels":{"\u007f":"x"}}})", 422, "metadata.labels"},
           {body_with_labels(257), 422, "metadata.labels"},
           {R"({"spec":{"slo":{"latency_ms":"fast"}}})", 422, "spec.slo.latency_ms"},
       }) {
    const ServiceAnswer answer = call("PUT", {"tenants", "t", "services", "a"}, each.body);
    EXPECT_EQ(answer.status, each.status) << each.body << answer.body;
    EXPECT_EQ(answer.body["error"]["field"], each.field.empty() ? Json(nullptr) : Json(each.field)) << each.body;
    EXPECT_EQ(call("GET", {"tenants", "t", "services", "a"}).status, 404);
  }
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "Upper"}, service(100)).status, 422);
}

TEST_F(ServiceApi, VersionsAndNamespacesAreCheckedBeforeTheyAreCompared) {
  call("PUT", {"tenants", "t"}, "{}");
  for (const char* version : {R"("abc")", R"("")", R"("01")", R"("-1")", "1", R"("123456789012345678901")"}) {
    const std::string metadata = R"({"resourceVersion":)" + std::string(version) + "}";
    for (const ServiceAnswer& answer : {call("PUT", {"tenants", "t"}, R"({"metadata":)" + metadata + "}"),
                                        call("PUT", {"tenants", "t", "services", "a"}, service(100, metadata))}) {
      EXPECT_EQ(answer.status, 422) << version;
      EXPECT_EQ(answer.body["error"]["field"], "metadata.resourceVersion") << version;
      EXPECT_FALSE(answer.body["error"]["wanted"].is_null() || answer.body["error"]["found"].is_null()) << version;
    }
  }
  EXPECT_EQ(call("PUT", {"tenants", "t"}, R"({"metadata":{"namespace":null}})").status, 200);
  const ServiceAnswer placed = call("PUT", {"tenants", "t"}, R"({"metadata":{"namespace":"x"}})");
  EXPECT_EQ(placed.status, 422);
  EXPECT_EQ(placed.body["error"]["field"], "metadata.namespace");
  const ServiceAnswer filled = call("PUT", {"tenants", "t"}, R"({"spec":{"a":1}})");
  EXPECT_EQ(filled.body["error"]["message"], "unknown key \"a\": wanted an empty map");
  EXPECT_EQ(filled.body["error"]["wanted"], "an empty map");
}

TEST_F(ServiceApi, ErrorsOfPinsAndRowsHaveTheirParts) {
  call("PUT", {"tenants", "t"}, "{}");
  const auto error_of = [&](const std::string& from, const std::string& to) {
    std::string body = service(100);
    body.replace(body.find(from), from.size(), to);
    const ServiceAnswer answer = call("PUT", {"tenants", "t", "services", "a"}, body);
    EXPECT_EQ(answer.status, 422) << answer.body;
    return answer.body["error"];
  };
  const auto pinned = [&](const std::string& pins) {
    return error_of(R"("spec":{)", R"("spec":{"pins":[)" + pins + "],");
  };
  const Json start = pinned(R"({"gpu":0,"profile":"1g.10gb","start":99})");
  EXPECT_EQ(start["field"], "spec.pins[0].start");
  EXPECT_EQ(start["wanted"], "a start of 1g.10gb on A100-80GB: 0, 1, 2, 3, 4, 5, 6");
  EXPECT_EQ(start["found"], "99");
  const Json twice = pinned(R"({"gpu":0,"profile":"1g.10gb","start":0},{"gpu":0,"profile":"2g.20gb","start":0})");
  EXPECT_EQ(twice["field"], "spec.pins[1]");
  EXPECT_EQ(twice["found"], "2g.20gb@0");
  const Json useless = pinned(R"({"gpu":1,"profile":"7g.80gb","start":0})");
  EXPECT_EQ(useless["field"], "spec.pins");
  EXPECT_EQ(useless["wanted"], "a slice that a can serve or retrain on (a.pins)");
  EXPECT_EQ(useless["found"], "7g.80gb@0");
  const Json gpu = error_of("A100-80GB", "X100");
  EXPECT_EQ(gpu["found"], "\"X100\"");
  EXPECT_TRUE(gpu["wanted"].get<std::string>().starts_with("a GPU; known are A100-40GB, ")) << gpu;
  EXPECT_EQ(error_of("A100-80GB", "A100")["found"], "\"A100\"");
  EXPECT_EQ(error_of("A100-80GB", "A100")["wanted"], "one of A100-40GB, A100-80GB");
}

/// The rows of a service with another rate of its row, 20 ms a request.
std::string with_rate(std::string body, const std::string& rate) {
  const std::string from = R"("requests_per_second":50,"latency_ms":20)";
  return body.replace(body.find(from), from.size(), R"("requests_per_second":)" + rate + R"(,"latency_ms":20.0)");
}

TEST_F(ServiceApi, ANewRowThatStatesMoreThanItsBatchesGiveIsRefused) {
  call("PUT", {"tenants", "t"}, "{}");
  const ServiceAnswer refused = call("PUT", {"tenants", "t", "services", "a"}, with_rate(service(100), "54.0"));
  EXPECT_EQ(refused.status, 422);
  const Json error = refused.body["error"];
  EXPECT_EQ(error["field"], "spec.profile.rows[0].requests_per_second");
  EXPECT_EQ(error["wanted"], "at most 52.5 requests per second of the slice (1.05 x batch x processes / latency)");
  EXPECT_EQ(error["found"], "54");
  EXPECT_EQ(call("GET", {"tenants", "t", "services", "a"}).status, 404);
  // Whole digits allow 53.5 x 19.95, and a rate that is too small is only a warning of the client.
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, with_rate(service(100), "53")).status, 201);
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "b"}, with_rate(service(100), "5")).status, 201);
}

TEST_F(ServiceApi, AServiceKeepsARowThatWasAcceptedBefore) {
  ServiceSpec old =
      sim::testing::service_of("a", {{}}, sim::testing::generated(Generator::Kind::kPoisson, Decimal(5), 60));
  old.table.points[0].requests_per_second = Decimal(500);  // in batches of 1 in 10 ms
  start({}, {old});
  run_for(1);
  Json read = call("GET", {"tenants", "a", "services", "a"}).body;
  ASSERT_EQ(read["spec"]["profile"]["rows"][0]["requests_per_second"], 500);
  read["spec"]["slo"]["latency_ms"] = 150;
  const ServiceAnswer changed = call("PUT", {"tenants", "a", "services", "a"}, read.dump());
  EXPECT_EQ(changed.status, 200) << changed.body;
  read["metadata"].erase("resourceVersion");
  EXPECT_EQ(call("PUT", {"tenants", "a", "services", "b"}, R"({"spec":)" + read["spec"].dump() + "}").status, 422);
  read["spec"]["profile"]["rows"][0]["requests_per_second"] = 501;
  EXPECT_EQ(call("PUT", {"tenants", "a", "services", "a"}, read.dump()).status, 422);
}

TEST_F(ServiceApi, TenantAndVersionAreJudgedBeforeWhatThePinsOfAllAskFor) {
  const auto put = [&](const std::string& metadata) {
    std::string body = service(100, metadata);
    const std::string spec = R"("spec":{)";
    body.replace(body.find(spec), spec.size(), spec + R"("pins":[{"gpu":1,"profile":"7g.80gb","start":0}],)");
    return call("PUT", {"tenants", "t", "services", "a"}, body).status;
  };
  EXPECT_EQ(put("{}"), 404);
  call("PUT", {"tenants", "t"}, "{}");
  EXPECT_EQ(put(R"({"resourceVersion":"5"})"), 409);
  EXPECT_EQ(put("{}"), 422);
}

TEST_F(ServiceApi, WhatAllHoldTogetherIsBounded) {
  live::SessionOptions options;
  options.held_bytes_max = 200'000;
  start(std::move(options));
  EXPECT_EQ(call("PUT", {"tenants", "t"}, R"({"spec":{}})").status, 201);
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, service(100)).status, 201);
  Json long_one = Json::parse(service(100));
  long_one["spec"]["arrivals"] = {{"format", "csv"}, {"rows", {{{"second", 2'591'999}, {"requests", 1}}}}};
  for (const std::string name : {"a", "b"}) {
    const ServiceAnswer refused = call("PUT", {"tenants", "t", "services", name}, long_one.dump());
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.body["error"]["code"], "invalid");
    EXPECT_EQ(refused.body["error"]["field"], "spec");
    EXPECT_EQ(refused.body["error"]["wanted"], "at most 200000 bytes held by all objects together");
    EXPECT_GT(std::stoll(refused.body["error"]["found"].get<std::string>()), 2'592'000 * 4);
  }
  EXPECT_EQ(call("GET", {"tenants", "t", "services", "b"}).status, 404);
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, service(100)).status, 200) << "unchanged";
}

TEST_F(ServiceApi, SlicesOfARemovedServiceDrainEvenWhileNothingMayChange) {
  call("PUT", {"tenants", "t"}, "{}");
  call("PUT", {"tenants", "t", "services", "a"}, service(100));
  run_for(30);
  ASSERT_EQ(call("GET", {"slices"}).body["items"][0]["status"]["state"], "serving");
  session_->pause("maintenance");
  call("DELETE", {"tenants", "t", "services", "a"});
  const Json slices = call("GET", {"slices"}).body["items"];
  EXPECT_FALSE(slices.empty());
  for (const Json& slice : slices) EXPECT_EQ(slice["status"]["state"], "draining");
}

TEST_F(ServiceApi, AServiceThatFitsNoGpuWaitsWithTheReason) {
  call("PUT", {"tenants", "t"}, "{}");
  EXPECT_EQ(call("PUT", {"tenants", "t", "services", "a"}, service(1)).status, 201);
  run_for(20);
  const Json status = call("GET", {"tenants", "t", "services", "a"}).body["status"];
  EXPECT_EQ(status["phase"], "Waiting");
  EXPECT_NE(status["conditions"][0]["message"].get<std::string>().find("no slice of the fleet"), std::string::npos);
}

}  // namespace
}  // namespace berth::api
