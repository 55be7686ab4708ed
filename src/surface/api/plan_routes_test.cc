// Approval and pause as a client of the API sees them: a session on two GPUs whose layout is fixed, where the drain of
// a GPU is the plan.
#include "engine/loop/approval.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "surface/api/api.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/world/testing/scenarios.h"

namespace berth::api {
namespace {

using Json = nlohmann::json;

Scenario planned_gpus() {
  namespace t = sim::testing;
  ServiceSpec service = t::service_of("a", {{.profile = "3g.40gb", .latency_ms = 10}},
                                      t::generated(Generator::Kind::kConstant, Decimal(20), 60));
  return t::scenario_of(
      {service}, {t::holding_of(t::slice_at(0, "3g.40gb", 0), {0}), t::holding_of(t::slice_at(1, "3g.40gb", 0), {0})},
      2);
}

struct PlanAnswer {
  int status = 0;
  Json body;

  [[nodiscard]] std::string code() const { return body["error"]["code"]; }
  [[nodiscard]] std::string field() const { return body["error"]["field"].is_null() ? "" : body["error"]["field"]; }
};

/// Receives a later answer.
class PlanReply : public HttpLateReply {
 public:
  explicit PlanReply(std::optional<HttpResponse>& response) : response_(response) {}
  void send(HttpResponse response) override { response_ = std::move(response); }

 private:
  std::optional<HttpResponse>& response_;
};

class ApprovalApi : public ::testing::Test {
 protected:
  ApprovalApi() { begin(Approval::kAlways); }

  void begin(Approval approval) {
    live::SessionOptions options;
    options.policy = "fixed";
    options.approval = approval;
    options.proposals_expire = true;
    options.listener.wall_clock = [this] { return wall_us_; };
    session_ = std::move(*live::Session::make(planned_gpus(), std::move(options)));
    session_->begin();
    api_ = std::make_unique<Api>(*session_, lock_, ApiOptions{.key = "k", .epoch = {}, .page = "", .driver_status = [] {
                                                                return DriverStatus();
                                                              }});
    run_for(5);
  }

  void run_for(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
  }

  PlanAnswer call(const std::string& method, std::vector<std::string> path, std::string body = "",
                  const std::string& type = "application/json") {
    path.insert(path.begin(), "v1");
    const HttpRequest request{.method = method,
                              .path = std::move(path),
                              .query = {},
                              .headers = {{"Authorization", "Bearer k"}, {"Content-Type", type}},
                              .body = std::move(body),
                              .peer = ""};
    const HttpAnswer answer = api_->answer(request);
    const auto& response = std::get<HttpResponse>(answer);
    return {.status = response.status, .body = Json::parse(response.body)};
  }

  /// The answer to a repeat of an approval that was recorded but not answered.
  PlanAnswer repeat_approval(const std::string& plan) {
    const auto repeat = [](const live::Write& write) {
      write.key->repeat(
          KeyedOutcome{.key = write.key->key, .request = write.key->request, .wall_us = 1, .status = 200, .body = ""});
      write.render();
      write.send();
    };
    Api api(*session_, lock_,
            ApiOptions{
                .key = "k", .epoch = {}, .page = "", .driver_status = [] { return DriverStatus(); }, .submit = repeat});
    HttpRequest request;
    request.method = "POST";
    request.path = {"v1", "plans", plan, "approve"};
    request.headers = {{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}, {"Idempotency-Key", "key"}};
    HttpAnswer answer = api.answer(request);
    std::optional<HttpResponse> response;
    std::get<HttpLater>(answer).start(std::make_unique<PlanReply>(response));
    return {.status = response->status, .body = Json::parse(response->body)};
  }

  /// The name of the proposal that the drain of GPU 1 leads to.
  std::string propose() {
    EXPECT_EQ(call("POST", {"gpus", "gpu-1", "drain"}, R"({"reason":"maintenance"})").status, 200);
    run_for(1);
    const PlanAnswer current = call("GET", {"plans", "current"});
    EXPECT_EQ(current.body["status"]["phase"], "awaiting_approval");
    return current.body["metadata"]["name"];
  }

  std::size_t slice_count() { return call("GET", {"slices"}).body["items"].size(); }

  std::vector<std::string> event_words() {
    std::vector<std::string> words;
    for (const live::LoggedEvent& event : session_->events().after(0, 1000)) {
      if (event.object.kind == live::ObjectKind::kPlan || event.object.kind == live::ObjectKind::kPlanning) {
        words.emplace_back(live::event_word(event.kind));
      }
    }
    return words;
  }

  std::int64_t wall_us_ = 1'000'000'000'000'000;
  edges::FairMutex lock_;
  std::unique_ptr<live::Session> session_;
  std::unique_ptr<Api> api_;
};

TEST_F(ApprovalApi, AProposalSaysUntilWhenItWaits) {
  const std::string plan = propose();
  const PlanAnswer shown = call("GET", {"plans", plan});
  EXPECT_EQ(shown.body["status"]["expires_at_wall"], "2001-09-09T01:47:40.000000Z");
  EXPECT_TRUE(shown.body["spec"]["acts_at"].is_null());
  ASSERT_EQ(shown.body["spec"]["actions"].size(), 1U);
  EXPECT_EQ(shown.body["spec"]["actions"][0]["phase"], "planned");
  EXPECT_EQ(slice_count(), 2U);
}

TEST_F(ApprovalApi, AnApprovedPlanActsAndIsDone) {
  const std::string plan = propose();
  run_for(20);
  const PlanAnswer approved = call("POST", {"plans", plan, "approve"});
  EXPECT_EQ(approved.status, 200);
  EXPECT_EQ(approved.body["status"]["phase"], "acting");
  EXPECT_EQ(approved.body["spec"]["actions"][0]["phase"], "running");
  EXPECT_FALSE(approved.body["spec"]["acts_at"].is_null());
  run_for(60);
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "done");
  EXPECT_EQ(slice_count(), 1U);
  const std::vector<std::string> words = event_words();
  const std::vector<std::string> latest(words.end() - 5, words.end());
  EXPECT_EQ(latest,
            (std::vector<std::string>{"PlanProposed", "PlanApproved", "PlanAccepted", "ActionIntended", "ActionDone"}));

  const PlanAnswer again = call("POST", {"plans", plan, "approve"});
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "not_waiting");
  EXPECT_EQ(again.body["error"]["found"], "done");
}

TEST_F(ApprovalApi, AChangedPlanSaysWhatChangedAndIsNoLongerValid) {
  const std::string plan = propose();
  EXPECT_EQ(call("POST", {"gpus", "gpu-1", "uncordon"}).status, 200);
  for (int times = 0; times < 2; ++times) {
    const PlanAnswer answer = call("POST", {"plans", plan, "approve"});
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.code(), "plan_changed");
    EXPECT_EQ(answer.body["error"]["difference"], Json::array({"gpu-1 is open now, and was draining"}));
  }
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "superseded");
  EXPECT_EQ(call("GET", {"plans", plan}).body["spec"]["actions"][0]["phase"], "dropped");
  run_for(60);
  EXPECT_EQ(slice_count(), 2U);
}

TEST_F(ApprovalApi, ARepeatedApprovalIsAnsweredByWhatBecameOfThePlan) {
  const std::string accepted = propose();
  EXPECT_EQ(call("POST", {"plans", accepted, "approve"}).status, 200);
  EXPECT_EQ(repeat_approval(accepted).status, 200);
  EXPECT_EQ(repeat_approval(accepted).body, call("GET", {"plans", accepted}).body);
  run_for(60);
  EXPECT_EQ(repeat_approval(accepted).body["status"]["phase"], "done");
  EXPECT_EQ(repeat_approval("plan-999").status, 404);
}

TEST_F(ApprovalApi, ARepeatedApprovalOfWhatHadChangedIsRefusedAgain) {
  const std::string plan = propose();
  EXPECT_EQ(call("POST", {"gpus", "gpu-1", "uncordon"}).status, 200);
  const PlanAnswer first = call("POST", {"plans", plan, "approve"});
  const PlanAnswer again = repeat_approval(plan);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "plan_changed");
  EXPECT_EQ(again.body["error"]["difference"], first.body["error"]["difference"]);
}

TEST_F(ApprovalApi, APlanThatIsNotApprovedIn60SecondsOfWallTimeExpires) {
  const std::string plan = propose();
  run_for(3600);  // the world's time does not matter
  wall_us_ += 59'999'999;
  session_->expire_overdue();
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "awaiting_approval");
  wall_us_ += 1;
  const PlanAnswer late = call("POST", {"plans", plan, "approve"});
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.code(), "not_waiting");
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "expired");
  EXPECT_EQ(slice_count(), 2U);
  run_for(1);
  EXPECT_EQ(call("GET", {"plans", "current"}).body["status"]["phase"], "awaiting_approval");  // proposed again
  EXPECT_NE(call("GET", {"plans", "current"}).body["metadata"]["name"], plan);
}

TEST_F(ApprovalApi, AClockThatIsSetBackLetsAPlanWaitForAtMost60Seconds) {
  const std::string plan = propose();
  wall_us_ -= 3'600'000'000;
  session_->expire_overdue();
  wall_us_ += 59'999'999;
  session_->expire_overdue();
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "awaiting_approval");
  wall_us_ += 1;
  session_->expire_overdue();
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "expired");
}

TEST_F(ApprovalApi, APlanSaysWhatItStandsOn) {
  const Json first = call("GET", {"plans", "plan-1"}).body["spec"];
  EXPECT_EQ(first["epoch"], 0);
  EXPECT_EQ(first["actions"][0]["type"], "create");
  EXPECT_EQ(first["actions"][0]["preconditions"], (Json{{"slices", Json::object()}, {"services", {{"a/a", 0}}}}));
  const Json drain = call("GET", {"plans", propose()}).body["spec"];
  EXPECT_GT(drain["base_version"], first["base_version"]);
  ASSERT_EQ(drain["actions"].size(), 1U);
  // Action 1 of its GPU created it, and action 2 assigned it to the service.
  EXPECT_EQ(drain["actions"][0]["preconditions"], (Json{{"slices", {{"3g.40gb-0", 2}}}, {"services", Json::object()}}));
}

TEST_F(ApprovalApi, APlanKeepsTheNamesOfItsTime) {
  begin(Approval::kNever);
  const ServiceSpec spec = std::as_const(session_->scenario().services)[0];
  EXPECT_EQ(call("DELETE", {"tenants", "a", "services", "a"}).status, 200);
  run_for(60);
  EXPECT_EQ(slice_count(), 0U);
  EXPECT_EQ(call("PUT", {"tenants", "b"}, "{}").status, 201);
  ASSERT_TRUE(session_->set_service({.tenant = "b", .name = "other"}, spec, {}, std::nullopt).has_value());
  ASSERT_EQ(session_->catalog().services.begin()->second.id, ServiceId{0}) << "it takes the place";
  const Json plan = call("GET", {"plans", "plan-1"}).body["spec"];
  for (const Json& action : plan["actions"]) {
    if (action["type"] != "assign") continue;
    EXPECT_EQ(action["tenant"], "a");
    EXPECT_EQ(action["service"], "a");
    EXPECT_EQ(action["preconditions"]["services"], (Json{{"a/a", 0}}));
  }
}

TEST_F(ApprovalApi, UnknownPlansAndBadBodiesAreRefused) {
  const std::string plan = propose();
  for (const char* name : {"plan-999", "plan-", "plan-01", "x", "current"}) {
    EXPECT_EQ(call("POST", {"plans", name, "approve"}).status, 404) << name;
  }
  EXPECT_EQ(call("POST", {"plans", plan, "approve"}, "{").status, 400);
  EXPECT_EQ(call("POST", {"plans", plan, "approve"}, "{}", "text/plain").status, 415);
  EXPECT_EQ(call("POST", {"plans", plan, "approve"}, R"({"reasons":"x"})").status, 422);
  EXPECT_EQ(call("GET", {"plans", plan, "approve"}).status, 405);
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "awaiting_approval");
  EXPECT_EQ(call("POST", {"plans", plan, "approve"}, "{}").status, 200);
}

TEST_F(ApprovalApi, WhilePlanningIsPausedNothingBeginsAndAProposalWaits) {
  const std::string plan = propose();
  const PlanAnswer paused = call("PUT", {"planning"}, R"({"paused":true,"reason":"upgrade"})");
  EXPECT_EQ(paused.status, 200);
  EXPECT_EQ(paused.body["paused"], true);
  EXPECT_EQ(paused.body["reason"], "upgrade");
  EXPECT_EQ(call("GET", {"planning"}).body, paused.body);
  EXPECT_EQ(call("GET", {"status"}).body["planning"], (Json{{"paused", true}, {"reason", "upgrade"}}));
  const PlanAnswer refused = call("POST", {"plans", plan, "approve"});
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "planning_paused");
  EXPECT_EQ(call("GET", {"plans", plan}).body["status"]["phase"], "awaiting_approval");

  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":false})").body,
            (Json{{"paused", false}, {"reason", nullptr}, {"since", nullptr}}));
  EXPECT_EQ(call("POST", {"plans", plan, "approve"}).status, 200);
}

TEST_F(ApprovalApi, DrainsWaitForTheEndOfAPause) {
  begin(Approval::kNever);
  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":true,"reason":"upgrade"})").status, 200);
  EXPECT_EQ(call("POST", {"gpus", "gpu-1", "drain"}, R"({"reason":"maintenance"})").body["status"]["scheduling"],
            "draining");
  run_for(300);
  EXPECT_EQ(slice_count(), 2U);
  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":false})").status, 200);
  run_for(300);
  EXPECT_EQ(slice_count(), 1U);
  EXPECT_EQ(call("GET", {"gpus", "gpu-1"}).body["status"]["scheduling"], "cordoned");
  EXPECT_EQ(call("GET", {"gpus", "gpu-1"}).body["status"]["drained"], true);
  const std::vector<std::string> words = event_words();
  EXPECT_EQ(std::count(words.begin(), words.end(), "PlanningPaused"), 1);
  EXPECT_EQ(std::count(words.begin(), words.end(), "PlanningResumed"), 1);
}

TEST_F(ApprovalApi, ThePauseChecksItsBody) {
  struct Case {
    std::string body;
    int status = 0;
    std::string field;
  };
  const std::string accents = [] {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "\xC3\xA9";
    return text;
  }();
  const std::vector<Case> cases = {
      {"", 400, ""},
      {"{\"paused\":true", 400, ""},
      {R"({"paused":true,"paused":true,"reason":"x"})", 400, ""},
      {R"([])", 422, ""},
      {R"({})", 422, "paused"},
      {R"({"paused":"true","reason":"x"})", 422, "paused"},
      {R"({"paused":1,"reason":"x"})", 422, "paused"},
      {R"({"paused":true})", 422, "reason"},
      {R"({"paused":true,"reason":null})", 422, "reason"},
      {R"({"paused":true,"reason":""})", 422, "reason"},
      {R"({"paused":true,"reason":7})", 422, "reason"},
      {R"({"paused":true,"reason":"a\u009b2J"})", 422, "reason"},
      {R"({"paused":true,"reason":"x","until":5})", 422, "until"},
      {R"({"paused":true,"reason":")" + std::string(501, 'x') + "\"}", 422, "reason"},
      {R"({"paused":true,"reason":")" + accents + "e\"}", 422, "reason"},
  };
  for (const Case& each : cases) {
    const PlanAnswer answer = call("PUT", {"planning"}, each.body);
    EXPECT_EQ(answer.status, each.status) << each.body;
    EXPECT_EQ(answer.field(), each.field) << each.body;
    EXPECT_EQ(call("GET", {"planning"}).body["paused"], false);
  }
  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":true,"reason":"x"})", "text/plain").status, 415);
  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":true,"reason":"x"})", "Application/JSON; charset=utf-8").status,
            200);
  EXPECT_EQ(call("PUT", {"planning"}, R"({"paused":true,"reason":")" + accents + "\"}").status, 200);
}

}  // namespace
}  // namespace berth::api
