#include <gmock/gmock.h>

#include "surface/cli/client/test_server.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;

constexpr const char* kPlan =
    R"({"kind":"Plan","metadata":{"name":"plan-7"},"spec":{"made_at":"T0","objective":1.5,"bound":null,)"
    R"("conflict":null,)"
    R"("ahead":[{"gpu":"gpu-1","after_seconds":30,"slices":[{"profile":"1g.10gb","start":2,"service":"a"}]}],)"
    R"("actions":[{"id":"1","type":"create","gpu":"gpu-0","profile":"2g.20gb","start":4,"tenant":"t","service":"s",)"
    R"("role":"inference","reason":"more in time","phase":"failed","message":"gpu-0 is lost"}]},)"
    R"("status":{"phase":"awaiting_approval","message":null}})";

class Act : public testing::ClientTest {
 protected:
  [[nodiscard]] std::string last() const {
    const HttpCall& call = calls().back();
    return call.method + " " + call.url.substr(call.url.find("/v1")) + " " + call.body;
  }
};

TEST_F(Act, CordonsDrainsAndOpensGpusAndNodes) {
  answer("POST /v1/gpus/gpu-3/cordon", "{}");
  answer("POST /v1/gpus/gpu-3/uncordon", "{}");
  answer("POST /v1/nodes/node-0/drain", "{}");
  EXPECT_EQ(run({"cordon", "gpu-3", "--reason", "fan"}).out, "gpu/gpu-3 cordoned\n");
  EXPECT_EQ(last(), R"(POST /v1/gpus/gpu-3/cordon {"reason":"fan"})");
  EXPECT_EQ(run({"uncordon", "gpu/gpu-3"}).out, "gpu/gpu-3 uncordoned\n");
  EXPECT_EQ(last(), "POST /v1/gpus/gpu-3/uncordon ");
  EXPECT_EQ(run({"drain", "node-0", "--reason", "move"}).out, "node/node-0 draining\n");
  EXPECT_EQ(run({"drain", "node-1", "--reason", "move"}).status, 3);
}

TEST_F(Act, AsksWhetherAServerIsReady) {
  answer("GET /readyz", R"({"status":"ready"})");
  answer("GET /healthz", R"({"status":"ok"})");
  EXPECT_EQ(run({"ready"}).out, "ready\n");
  EXPECT_EQ(run({"ready", "--live"}).out, "live\n");
}

TEST_F(Act, IsNotReadyWithoutAnAnswer) {
  const Printed unready = run({"ready"});
  EXPECT_EQ(unready.status, 3);
  EXPECT_EQ(unready.out, "");
}

TEST_F(Act, WaitsForADrain) {
  const auto gpu = [](const std::string& scheduling, const std::string& drained) {
    return R"({"metadata":{"name":"gpu-3"},"status":{"scheduling":")" + scheduling + R"(","drained":)" + drained + "}}";
  };
  answer("POST /v1/gpus/gpu-3/drain", "{}");
  answer("GET /v1/gpus/gpu-3", gpu("draining", "false"));
  answer("GET /v1/gpus/gpu-3", gpu("draining", "false"));
  answer("GET /v1/gpus/gpu-3", gpu("cordoned", "true"));
  EXPECT_EQ(run({"drain", "gpu-3", "--reason", "fan", "--wait"}).out, "gpu/gpu-3 draining\ngpu/gpu-3 drained\n");
  answer("POST /v1/nodes/node-0/drain", "{}");
  answer("GET /v1/nodes/node-0", gpu("draining", "false"));
  const Printed late = run({"drain", "node-0", "--reason", "fan", "--wait-seconds", "0.1"});
  EXPECT_EQ(late.status, 6);
  EXPECT_EQ(late.out, "node/node-0 draining\n");
  EXPECT_EQ(late.err, "berth: node/node-0 is not drained yet, after 0.1 s; its drain continues\n");
  answer("POST /v1/gpus/gpu-5/drain", "{}");
  answer("GET /v1/gpus/gpu-5", gpu("open", "false"));
  const Printed opened = run({"drain", "gpu-5", "--reason", "fan", "--wait"});
  EXPECT_EQ(opened.status, 5);
  EXPECT_THAT(opened.err, HasSubstr("gpu/gpu-5 is open now: another order ended its drain"));
  EXPECT_EQ(run({"drain", "gpu-3", "--reason", "x", "--wait-seconds", "soon"}).status, 2);
  EXPECT_EQ(run({"cordon", "gpu-3", "--reason", "x", "--wait"}).status, 2);
}

TEST_F(Act, RefusesWrongWords) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"cordon", "gpu-3"},
                                             {"cordon", "3", "--reason", "x"},
                                             {"drain", "gpu-x", "--reason", "x"},
                                             {"sim"},
                                             {"sim", "fault", "explode", "gpu-1"},
                                             {"sim", "fault", "lose"},
                                             {"sim", "fault", "lose", "all"},
                                             {"sim", "fault", "slow", "gpu-1", "--seconds", "long"},
                                             {"plan", "pause"}}) {
    EXPECT_EQ(run(words).status, 2) << words.back();
  }
  EXPECT_TRUE(calls().empty());
}

TEST_F(Act, InjectsFaultsAndListsThem) {
  answer("POST /v1/sim/faults", R"({"id":"fault-1"})", 201);
  EXPECT_EQ(run({"sim", "fault", "slow", "gpu-1", "--gpus", "2", "--seconds", "60"}).out, "fault/fault-1 injected\n");
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"slow","gpu":"gpu-1","gpus":2,"seconds":60})");
  EXPECT_EQ(run({"sim", "fault", "foreign_slice", "gpu-1", "--profile", "1g.10gb", "--start", "0"}).status, 0);
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"foreign_slice","gpu":"gpu-1","start":0,"profile":"1g.10gb"})");
  EXPECT_EQ(run({"sim", "fault", "serving", "vision/detector", "--factor", "1.3", "--jitter", "0.2"}).status, 0);
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"serving","service":"vision/detector","factor":1.3,"jitter":0.2})");
  EXPECT_EQ(run({"sim", "fault", "clear", "vision/detector"}).out, "faults cleared\n");
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"clear","service":"vision/detector"})");
  EXPECT_EQ(run({"sim", "fault", "clear", "all"}).out, "faults cleared\n");
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"clear","all":true})");
  EXPECT_EQ(run({"sim", "fault", "lose", "node-0"}).status, 0);
  EXPECT_EQ(last(), R"(POST /v1/sim/faults {"kind":"lose","node":"node-0"})");
  answer("GET /v1/sim/faults?limit=500",
         R"({"items":[{"kind":"Fault","metadata":{"name":"fault-1"},"spec":{"kind":"slow","gpu":"gpu-1","seconds":60},)"
         R"("status":{"gpus_left":2,"actions_left":null}}],"metadata":{"continue":null}})");
  EXPECT_EQ(run({"sim", "faults"}).out,
            "NAME      KIND   FIRST GPU   GPUS LEFT   ACTIONS LEFT   SECONDS   AGE\n"
            "fault-1   slow   gpu-1       2           -              60        -\n");
  EXPECT_EQ(run({"sim", "faults", "-o", "name"}).out, "fault/fault-1\n");
  EXPECT_EQ(run({"get", "faults", "fault-2"}).status, 3);
}

TEST_F(Act, EachStatusOfAnAnswerHasItsExitStatus) {
  const std::pair<int, int> cases[] = {{400, 2}, {401, 4}, {403, 4}, {404, 3}, {405, 2}, {406, 2}, {408, 6},
                                       {409, 5}, {410, 3}, {412, 5}, {413, 2}, {414, 2}, {415, 2}, {422, 2},
                                       {429, 7}, {431, 2}, {500, 1}, {502, 7}, {503, 7}, {504, 6}, {302, 1}};
  for (const auto& [http_status, exit_status] : cases) {
    const std::string gpu = "gpu-" + std::to_string(http_status);
    answer("POST /v1/gpus/" + gpu + "/cordon", R"({"error":{"code":"x","message":"it is so"}})", http_status);
    const Printed printed = run({"cordon", gpu, "--reason", "fan"});
    EXPECT_EQ(printed.status, exit_status) << http_status;
    EXPECT_THAT(printed.err, HasSubstr("it is so")) << http_status;
  }
}

TEST_F(Act, ShowsPlans) {
  answer("GET /v1/plans/current", kPlan);
  answer("GET /v1/plans/plan-7", kPlan);
  const Printed printed = run({"plan", "show"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("Phase:      awaiting_approval\n"));
  EXPECT_THAT(printed.out, HasSubstr("Bound:      unknown\n"));
  EXPECT_THAT(printed.out, HasSubstr("failed   more in time [gpu-0 is lost]\n"));
  EXPECT_THAT(printed.out, HasSubstr("gpu-1   30        1g.10gb@2=a\n"));
  EXPECT_EQ(run({"plan", "show", "7"}).out, printed.out);
  EXPECT_EQ(run({"plan", "show", "plan-8"}).status, 3);
  answer("GET /v1/plans?limit=100", R"({"items":[)" + std::string(kPlan) + R"(],"metadata":{"continue":null}})");
  answer("GET /v1/promises?limit=500",
         R"({"items":[{"plan":"plan-7","gpu":"gpu-0","state":"judged","promised":30,"achieved":20.5},)"
         R"({"plan":"plan-7","gpu":"gpu-1","state":"open","promised":12,"achieved":null}],)"
         R"("metadata":{"continue":null},"last_hour":{"changes":1,"promised":30,"achieved":20.5,"share":0.6833},)"
         R"("last_day":{"changes":0,"promised":0,"achieved":0,"share":null}})");
  const std::string history = run({"plan", "history"}).out;
  EXPECT_THAT(history, HasSubstr("plan-7   awaiting_approval   -     1         42         20.5       1/2      -\n"));
  EXPECT_THAT(history, HasSubstr("last hour       1         30         20.5       68.33%\n"));
  EXPECT_THAT(history, HasSubstr("last day        0         0          0          -\n"));
  EXPECT_THAT(run({"plan", "history", "-o", "json"}).out, HasSubstr("\"plan-7\""));
}

TEST_F(Act, ApprovesPlans) {
  answer("GET /v1/plans/current", kPlan);
  answer("POST /v1/plans/plan-7/approve", "{}");
  EXPECT_EQ(run({"plan", "approve"}).out, "plan/plan-7 approved\n");
  EXPECT_EQ(run({"plan", "approve", "7"}).out, "plan/plan-7 approved\n");
  answer("POST /v1/plans/plan-9/approve",
         R"({"error":{"code":"plan_changed","message":"facts of plan-9 no longer hold",)"
         R"("difference":["gpu-3 is lost"]}})",
         409);
  const Printed printed = run({"plan", "approve", "plan-9"});
  EXPECT_EQ(printed.status, 5);
  EXPECT_EQ(printed.err, "berth: facts of plan-9 no longer hold\n  gpu-3 is lost\n");
}

TEST_F(Act, PausesAndResumes) {
  answer("PUT /v1/planning", "{}");
  EXPECT_EQ(run({"plan", "pause", "--reason", "night"}).status, 0);
  EXPECT_EQ(last(), R"(PUT /v1/planning {"paused":true,"reason":"night"})");
  EXPECT_EQ(run({"plan", "resume"}).status, 0);
  EXPECT_EQ(last(), R"(PUT /v1/planning {"paused":false})");
}

TEST_F(Act, AScenarioMayHaveTheNameOfASubcommand) {
  const Printed printed = run({"plan", "./show", "--at", "1"}, "", false);
  EXPECT_EQ(printed.status, 2);
  EXPECT_THAT(printed.err, HasSubstr("./show"));
  EXPECT_EQ(run({"plan"}, "", false).err, "berth: SCENARIO is required\nSee: berth plan --help\n");
  EXPECT_EQ(run({"plan", "x.yaml"}, "", false).err, "berth: --at is required\nSee: berth plan --help\n");
}

}  // namespace
}  // namespace berth::cli
