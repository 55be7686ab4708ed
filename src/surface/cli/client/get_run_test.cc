#include <gmock/gmock.h>

#include "surface/cli/client/test_server.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Printed;

constexpr const char* kDetector =
    R"({"apiVersion":"berth.dev/v1alpha1","kind":"GpuService","metadata":{"name":"detector","namespace":"vision",)"
    R"("resourceVersion":"3","labels":{"team":"7"}},"spec":{"slo":{"latency_ms":100.10}},"status":{"phase":"Starting",)"
    R"("conditions":[{"type":"Placed","status":"False","reason":"NoRoom","since":null,)"
    R"("message":"no GPU has 7 slices"},{"type":"InTime","status":"False","reason":"NoneServes",)"
    R"("since":null,"message":"needed: 3 slices"}],)"
    R"("slices":[{"gpu":"gpu-0","profile":"1g.10gb","start":0,"role":"inference","state":"serving"},)"
    R"({"gpu":"gpu-1","profile":"1g.10gb","start":6,"role":"inference","state":"starting"}],)"
    R"("capacity_requests_per_second":null,"needed_slices":3,"agreed_attainment":0.995,)"
    R"("last_minute":{"requests":200,"in_time":150,"late":50,"dropped":0,)"
    R"("goodput":null,"latency_p50_ms":null,"latency_p99_ms":null}}})";

std::string list_of(const std::string& items, const std::string& next = "null") {
  return R"({"items":[)" + items + R"(],"metadata":{"continue":)" + next + "}}";
}

std::string gpu_object(int number) {
  const std::string n = std::to_string(number);
  return R"({"kind":"Gpu","metadata":{"name":"gpu-)" + n + R"("},"status":{"model":"A100-80GB","node":"node-0",)" +
         R"("health":"ok","health_reason":null,"scheduling":"cordoned","scheduling_reason":"noisy\u001b[2J fan",)" +
         R"("units":8,"allocated_units":2}})";
}

using Get = testing::ClientTest;

TEST_F(Get, ShowsATableWithoutInventedFigures) {
  answer("GET /v1/services?limit=100", list_of(kDetector));
  const Printed printed = run({"get", "services"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "TENANT   NAME       PHASE      SERVING   REQUESTS/MIN   IN TIME   P99 MS   TARGET MS   NOT MET\n"
            "vision   detector   Starting   1/3       200            75.00%    -        100         "
            "Placed=False,InTime=False\n");
  const Printed wide = run({"get", "service", "-o", "wide"});
  EXPECT_THAT(wide.out, HasSubstr("CAPACITY/S"));
  EXPECT_THAT(wide.out, HasSubstr("AGREED"));
  EXPECT_THAT(wide.out, HasSubstr("99.50%"));
  EXPECT_THAT(wide.out, HasSubstr("team=7"));
}

TEST_F(Get, AServiceWithoutRequestsMissesNothing) {
  std::string idle = kDetector;
  const std::string missed = R"("InTime","status":"False")";
  idle.replace(idle.find(missed), missed.size(), R"("InTime","status":"Unknown")");
  const std::string needed = R"("needed_slices":3)";
  idle.replace(idle.find(needed), needed.size(), R"("needed_slices":null)");
  answer("GET /v1/services?limit=100", list_of(idle));
  const Printed printed = run({"get", "services"});
  EXPECT_THAT(printed.out, HasSubstr("Starting   1/-"));
  EXPECT_THAT(printed.out, HasSubstr("   Placed=False\n"));
}

TEST_F(Get, TopCountsTheServicesThatMissTheirShare) {
  answer("GET /v1/status", R"({"world":"simulated","services":{"in_time":12,"not_in_time":1,"unknown":2}})");
  answer("GET /v1/gpus?limit=500", list_of(""));
  answer("GET /v1/services?limit=100", list_of(""));
  EXPECT_THAT(run({"top", "--once"}).out, HasSubstr("Services 12 in time, 1 not in time, 2 without requests\n"));
}

TEST_F(Get, SaysOfServicesOnRealGpusWhatTheirLoadIs) {
  std::string loaded = kDetector;
  loaded.replace(loaded.find(R"("conditions")"), 0, R"("load":"simulated",)");
  std::string unknown = kDetector;
  unknown.replace(unknown.find(R"("conditions")"), 0, R"("load":null,)");
  answer("GET /v1/services?limit=100", list_of(loaded + "," + unknown));
  const Printed printed = run({"get", "services"});
  EXPECT_THAT(printed.out, HasSubstr("PHASE      SERVING   LOAD        REQUESTS/MIN"));
  EXPECT_THAT(printed.out, HasSubstr("Starting   1/3       simulated   200"));
  EXPECT_THAT(printed.out, HasSubstr("Starting   1/3       unknown     200"));
}

TEST_F(Get, TopSaysWhatIsRealInAWorldOfRealGpus) {
  const std::string status = R"({"world":"local","time":"2026-11-26T10:00:00.000000Z","speed":1,"load":null,)"
                             R"("devices":{"driver":"580.95","reason":null}})";
  std::string observed = gpu_object(0);
  observed.replace(observed.find(R"("model")"), 0, R"("managed":false,)");
  answer("GET /v1/status", status);
  answer("GET /v1/gpus?limit=500", list_of(observed));
  answer("GET /v1/services?limit=100", list_of(""));
  const Printed top = run({"top", "--once"});
  EXPECT_THAT(top.out, HasSubstr("Devices  1 of this machine, 1 only observed; driver 580.95\n"));
  EXPECT_THAT(top.out, HasSubstr("Load     unknown: services have no processes on these GPUs yet\n"));
}

TEST_F(Get, FollowsPagesToTheEnd) {
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0), R"("a/b")"));
  answer("GET /v1/gpus?limit=500&continue=a%2Fb", list_of(gpu_object(1)));
  EXPECT_EQ(run({"get", "gpus", "-o", "name"}).out, "gpu/gpu-0\ngpu/gpu-1\n");
  const Printed table = run({"get", "gpu"});
  EXPECT_THAT(table.out, Not(HasSubstr("\x1b")));  // a reason cannot control the terminal
  EXPECT_THAT(table.out, HasSubstr("noisy?[2J fan"));
}

TEST_F(Get, PrintsJsonAndYamlWithTheServersNumbers) {
  answer("GET /v1/tenants/vision/services/detector", kDetector);
  const Printed json = run({"get", "service", "detector", "-t", "vision", "-o", "json"});
  EXPECT_THAT(json.out, HasSubstr("    \"slo\": {\n      \"latency_ms\": 100.10\n"));
  const Printed yaml = run({"get", "service", "detector", "-t", "vision", "-o", "yaml"});
  EXPECT_THAT(yaml.out, HasSubstr("metadata:\n  name: detector\n  namespace: vision\n  resourceVersion: \"3\"\n"
                                  "  labels:\n    team: \"7\"\n"));
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0)));
  EXPECT_THAT(run({"get", "gpus", "-o", "yaml"}).out, HasSubstr("metadata:\n  continue: null\n"));
}

TEST_F(Get, FindsAServiceByNameAlone) {
  answer("GET /v1/services?limit=100", list_of(kDetector));
  EXPECT_EQ(run({"get", "services", "detector", "-o", "name"}).out, "service/vision/detector\n");
  EXPECT_EQ(run({"get", "services", "other"}).status, 3);
}

TEST_F(Get, AnEmptyListIsOrdinary) {
  answer("GET /v1/services?limit=100", list_of(""));
  const Printed printed = run({"get", "services"});
  EXPECT_EQ(printed.status, 0);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err, "berth: there are no services\n");
}

TEST_F(Get, RefusesWrongWords) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"get", "pods"},
                                             {"get", "gpus", "-o", "csv"},
                                             {"get", "gpus", "-t", "vision"},
                                             {"get"},
                                             {"get", "gpus", "--timeout", "0"},
                                             {"get", "gpus", "--server", "localhost"},
                                             {"describe", "gpu"},
                                             {"get", "gpus", "--what"}}) {
    EXPECT_EQ(run(words).status, 2) << words.back();
  }
  EXPECT_TRUE(calls().empty());
}

TEST_F(Get, MapsAnswersToExitStatuses) {
  struct Case {
    int http = 0;
    int status = 0;
  };
  for (const Case& each : {Case{400, 2}, Case{401, 4}, Case{403, 4}, Case{404, 3}, Case{409, 5}, Case{413, 2},
                           Case{422, 2}, Case{500, 1}, Case{301, 1}}) {
    const std::string path = "GET /v1/gpus/gpu-" + std::to_string(each.http);
    answer(path, R"({"error":{"code":"c","message":"the message","field":"f"}})", each.http);
    const Printed printed = run({"get", "gpu", "gpu-" + std::to_string(each.http)});
    EXPECT_EQ(printed.status, each.status) << each.http;
    EXPECT_THAT(printed.err, HasSubstr("berth: f: the message"));
    EXPECT_EQ(printed.out, "");
  }
  fail_with("GET /v1/gpus/gpu-1", ErrorCode::kTimedOut);
  EXPECT_EQ(run({"get", "gpu", "gpu-1"}).status, 6);
  fail_with("GET /v1/gpus/gpu-2", ErrorCode::kNoServer);
  EXPECT_EQ(run({"get", "gpu", "gpu-2"}).status, 7);
  answer("GET /v1/gpus/gpu-3", "<html>", 200);
  EXPECT_EQ(run({"get", "gpu", "gpu-3"}).status, 1);
  answer("GET /v1/gpus/gpu-4", "<html>", 404);
  EXPECT_THAT(run({"get", "gpu", "gpu-4"}).err, HasSubstr("is it the right address?"));
}

TEST_F(Get, FindsTheServerAndTheKey) {
  answer("GET /v1/gpus/gpu-0", gpu_object(0));
  EXPECT_EQ(run({"get", "gpu", "gpu-0", "--server", "http://other:5/"}).status, 0);
  EXPECT_EQ(calls().back().url, "http://other:5/v1/gpus/gpu-0");
  ::setenv("BERTH_STATE", at("").c_str(), 1);
  EXPECT_EQ(run({"get", "gpu", "gpu-0", "--timeout", "0.5"}, "", false).status, 0);
  EXPECT_EQ(calls().back().url, "http://127.0.0.1:1/v1/gpus/gpu-0");
  EXPECT_EQ(calls().back().timeout, Micros(500'000));
  ::setenv("BERTH_SERVER", "http://third:6", 1);
  EXPECT_EQ(run({"get", "gpu", "gpu-0"}, "", false).status, 0);
  EXPECT_EQ(calls().back().url, "http://third:6/v1/gpus/gpu-0");
  ::unsetenv("BERTH_SERVER");
  ::unsetenv("BERTH_STATE");
  std::filesystem::remove(at("address"));
  const Printed printed = run({"get", "gpu", "gpu-0"});
  EXPECT_EQ(printed.status, 7);
  EXPECT_THAT(printed.err, HasSubstr("Start one with `berth up`"));
}

TEST_F(Get, DescribesAServiceWithItsConditions) {
  answer("GET /v1/tenants/vision/services/detector", kDetector);
  const Printed printed = run({"describe", "service", "detector", "-t", "vision"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("Phase:                         Starting\n"));
  EXPECT_THAT(printed.out, HasSubstr("Capacity requests per second:  unknown\n"));
  EXPECT_THAT(printed.out, HasSubstr("  TYPE     STATUS   REASON       SINCE   MESSAGE\n"
                                     "  Placed   False    NoRoom       -       no GPU has 7 slices\n"
                                     "  InTime   False    NoneServes   -       needed: 3 slices\n"));
  EXPECT_THAT(printed.out, HasSubstr("Needed slices:                 3\n"));
  EXPECT_THAT(printed.out, HasSubstr("  Latency p99 ms:  unknown\n"));
  EXPECT_THAT(printed.out, HasSubstr("Spec:\n  slo:\n    latency_ms: 100.10\n"));
}

TEST_F(Get, DescribesAGpuWithItsSlices) {
  answer("GET /v1/gpus/gpu-1", gpu_object(1));
  answer("GET /v1/slices?limit=500",
         list_of(R"({"metadata":{"name":"s-1"},"status":{"gpu":"gpu-1","state":"serving"}},)"
                 R"({"metadata":{"name":"s-2"},"status":{"gpu":"gpu-10","state":"serving"}})"));
  const Printed printed = run({"describe", "gpu", "gpu-1"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("Health reason:      none\n"));
  EXPECT_THAT(printed.out, HasSubstr("  s-1 "));
  EXPECT_THAT(printed.out, Not(HasSubstr("s-2")));
}

TEST_F(Get, DescribesANodeWithItsGpusOnce) {
  answer("GET /v1/nodes/node-0",
         R"({"kind":"Node","metadata":{"name":"node-0"},"status":{"health":"ok","scheduling":"open",)"
         R"("gpus":[{"name":"gpu-0","model":"A100-80GB","health":"ok","scheduling":"open"}]}})");
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0)));
  const Printed printed = run({"describe", "node", "node-0"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  const std::size_t first = printed.out.find("Gpus:");
  ASSERT_NE(first, std::string::npos) << printed.out;
  EXPECT_EQ(printed.out.find("Gpus:", first + 1), std::string::npos) << printed.out;
}

TEST_F(Get, APlanLeavesOutWhatDoesNotApply) {
  answer("GET /v1/plans/plan-7",
         R"({"kind":"Plan","metadata":{"name":"plan-7"},"spec":{"made_at":"T","acts_at":null,"expires_at":null,)"
         R"("objective":null,"bound":null,"conflict":null,"actions":[]},)"
         R"("status":{"phase":"done","message":null,"expires_at_wall":null}})");
  const Printed printed = run({"describe", "plan", "plan-7"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, Not(HasSubstr("xpires")));
  EXPECT_THAT(printed.out, Not(HasSubstr("Acts at")));
  EXPECT_THAT(printed.out, HasSubstr("unknown\n"));  // the objective
}

TEST_F(Get, TopPrintsOnceWithoutATerminal) {
  answer("GET /v1/services?limit=100", list_of(kDetector));
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0)));
  answer("GET /v1/status",
         R"({"world":"simulated","time":"T","speed":10,"steps":{"p99_ms":0.25},"solver":{"last_ms":null},)"
         R"("planning":{"paused":true,"reason":"night"},"funnel":{"allocated":0.5,"busy":null,"effective":null},)"
         R"("goodput":null,"cost_micro_usd_per_hour":3500000})");
  const Printed printed = run({"top"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("GPUs     1 (1 ok, 0 lost; 0 open, 1 cordoned, 0 draining)\n"));
  EXPECT_THAT(printed.out, HasSubstr("allocated 50.00%, busy unknown, effective unknown\n"));
  EXPECT_THAT(printed.out, HasSubstr("Goodput  unknown; cost $3.50 per hour\n"));
  EXPECT_THAT(printed.out, HasSubstr("Planning paused: night; last answer took unknown; step p99 0.250 ms\n"));
  EXPECT_THAT(printed.out, HasSubstr("GPU     MODEL       HEALTH   SCHEDULING   UNITS   ALLOCATED\n"
                                     "gpu-0   A100-80GB   ok       cordoned     8       25.00%\n"));
  EXPECT_THAT(printed.out, HasSubstr("vision   detector"));
}

}  // namespace
}  // namespace berth::cli
