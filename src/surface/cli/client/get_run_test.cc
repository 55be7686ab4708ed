#include <gmock/gmock.h>

#include <algorithm>

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
            "TENANT   NAME       PHASE      SERVING   REQUESTS/MIN   IN TIME   P99 MS   TARGET MS   AGE   NOT MET\n"
            "vision   detector   Starting   1/3       200            75.00%    -        100         -     "
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

TEST_F(Get, TopShowsWhatTheDriverMeasures) {
  const std::string gone = "the GPU agent (berth hands) is gone: the GPU agent ended (signal 9)";
  answer("GET /v1/status", R"({"world":"local","speed":1,"load":null,"devices":{"driver":"580.95","reason":null,)"
                           R"("agent_reason":")" +
                               gone + R"("}})");
  std::string busy = gpu_object(0);
  busy.replace(
      busy.find(R"("model")"), 0,
      R"("managed":false,"unprofiled_reason":"no service has a profile for A100-80GB: none can run here",)"
      R"("measured":{"memory_total_mib":81920,"memory_used_mib":1500,"utilization_percent":null,)"
      R"("temperature_celsius":41,"power_watts":311.6,"power_limit_watts":400.0,"sm_clock_mhz":1410},)"
      R"("processes":[{"pid":1,"user":"ann"},{"pid":2,"user":null},{"pid":3,"user":"b"},{"pid":4,"user":"b"}],)");
  std::string unread = gpu_object(1);
  unread.replace(unread.find(R"("model")"), 0, R"("managed":false,"measured":null,"processes":null,)");
  answer("GET /v1/gpus?limit=500", list_of(busy + "," + unread));
  answer("GET /v1/services?limit=100", list_of(""));
  const Printed top = run({"top", "--once"});
  EXPECT_THAT(top.out, HasSubstr(gone));
  EXPECT_THAT(
      top.out,
      HasSubstr("GPU     MEMORY                BUSY   TEMP   POWER          SM CLOCK    PROCESSES\n"
                "gpu-0   1,500 of 81,920 MiB   -      41 C   312 of 400 W   1,410 MHz   1 (ann), 2, 3 (b) and 1 more\n"
                "gpu-1   -                     -      -      -              -           -\n"));
  EXPECT_THAT(top.out, HasSubstr("\nNo service has a profile for "));
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

constexpr const char* kStatusAtNoon = R"({"time":"2026-11-22T12:00:00.000000Z"})";

std::string service_object(const std::string& tenant, const std::string& name, const std::string& phase) {
  return R"({"kind":"GpuService","metadata":{"name":")" + name + R"(","namespace":")" + tenant +
         R"(","creationTimestamp":"2026-11-22T10:58:30.123456Z","labels":{}},"spec":{"slo":{"latency_ms":100}},)" +
         R"("status":{"phase":")" + phase + R"(","conditions":[],"slices":[],)" +
         R"("capacity_requests_per_second":85.4700854700855,"last_minute":null}})";
}

std::string event_object(int sequence, const std::string& kind, const std::string& tenant) {
  return R"({"sequence":)" + std::to_string(sequence) + R"(,"time":"2026-11-22T11:59:)" +
         std::to_string(10 + sequence) + R"(.000001Z","kind":")" + kind + R"(","object":{"kind":"GpuService",)" +
         R"("namespace":")" + tenant + R"(","name":"a"},"generation":null,"message":"odd\u001b[2J"})";
}

TEST_F(Get, ShowsAgesInsteadOfMicroseconds) {
  answer("GET /v1/status", kStatusAtNoon);
  answer("GET /v1/services?limit=100", list_of(service_object("vision", "detector", "Running")));
  EXPECT_THAT(run({"get", "services"}).out, HasSubstr("  1h1m   -\n"));
  answer(
      "GET /v1/tenants?limit=500",
      list_of(R"({"kind":"Tenant","metadata":{"name":"vision","creationTimestamp":"2026-11-20T10:00:00.000000Z"}})"));
  EXPECT_EQ(run({"get", "tenants"}).out, "NAME     AGE\nvision   2d2h\n");
  answer("GET /v1/plans?limit=100",
         list_of(R"({"kind":"Plan","metadata":{"name":"plan-7"},"spec":{"made_at":"2026-11-22T11:59:15.500000Z",)"
                 R"("acts_at":"2026-11-22T11:59:16.000000Z","objective":0.00001,"actions":[]},)"
                 R"("status":{"phase":"done","message":null}})"));
  EXPECT_THAT(run({"get", "plans", "-o", "wide"}).out, HasSubstr("2026-11-22T11:59:16Z"));
  EXPECT_THAT(run({"get", "plans"}).out, HasSubstr("44s"));
}

TEST_F(Get, DescribesFiguresWithAtMostThreeDigits) {
  answer("GET /v1/tenants/vision/services/detector", service_object("vision", "detector", "Running"));
  const std::string text = run({"describe", "service/vision/detector"}).out;
  EXPECT_THAT(text, HasSubstr("Capacity requests per second:  85.47\n"));
  EXPECT_THAT(text, HasSubstr("Created:  2026-11-22T10:58:30.123Z\n"));
  EXPECT_THAT(run({"get", "service", "detector", "-t", "vision", "-o", "json"}).out, HasSubstr("85.4700854700855"));
}

TEST_F(Get, StoredLabelsCannotControlTheTerminal) {
  const std::string labelled =
      R"({"kind":"Tenant","metadata":{"name":"t","labels":{"a\u001b[1m":"b\u009b2J","c":"\u007f"}}})";
  answer("GET /v1/tenants/t", labelled);
  answer("GET /v1/tenants/t/services?limit=100", list_of(""));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"get", "tenant", "t", "-o", "wide"},
                                             {"describe", "tenant", "t"},
                                             {"get", "tenant", "t", "-o", "json"},
                                             {"get", "tenant", "t", "-o", "yaml"}}) {
    const Printed printed = run(words);
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, Not(HasSubstr("\x1b"))) << words.back();
    EXPECT_THAT(printed.out, Not(HasSubstr("\xC2\x9b"))) << words.back();
    EXPECT_THAT(printed.out, Not(HasSubstr("\x7f"))) << words.back();
  }
  EXPECT_THAT(run({"get", "tenant", "t", "-o", "wide"}).out, HasSubstr("a?[1m=b?2J,c=?"));
  const Printed refused = run({"get", "\x1b[2J"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, Not(HasSubstr("\x1b")));
}

TEST_F(Get, TakesKindAndNameInOneWord) {
  answer("GET /v1/tenants/vision/services/detector", kDetector);
  answer("GET /v1/gpus/gpu-3", gpu_object(3));
  answer("GET /v1/slices?limit=500", list_of(""));
  EXPECT_EQ(run({"get", "service/vision/detector", "-o", "name"}).out, "service/vision/detector\n");
  EXPECT_EQ(run({"get", "gpu/gpu-3", "-o", "name"}).out, "gpu/gpu-3\n");
  EXPECT_EQ(run({"describe", "gpu/gpu-3"}).out, run({"describe", "gpu", "gpu-3"}).out);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"get", "gpu/gpu-3", "gpu-4"},
                                             {"get", "gpu/"},
                                             {"get", "service/vision/detector", "-t", "media"},
                                             {"describe", "gpu/node-0/gpu-3"}}) {
    EXPECT_EQ(run(words).status, 2) << words.back();
  }
}

TEST_F(Get, DescribesWhatHasTheName) {
  answer("GET /v1/tenants/vision", R"({"kind":"Tenant","metadata":{"name":"vision"}})");
  answer("GET /v1/tenants/vision/services?limit=100", list_of(kDetector));
  answer("GET /v1/tenants/vision/services/detector", kDetector);
  answer("GET /v1/services?limit=100", list_of(kDetector));
  answer("GET /v1/gpus/gpu-3", gpu_object(3));
  answer("GET /v1/slices?limit=500", list_of(""));
  EXPECT_THAT(run({"describe", "detector"}).out, HasSubstr("Tenant:   vision\nKind:     GpuService\n"));
  EXPECT_THAT(run({"describe", "vision/detector"}).out, HasSubstr("Kind:     GpuService\n"));
  EXPECT_THAT(run({"describe", "vision"}).out, HasSubstr("Kind:  Tenant\n"));
  EXPECT_THAT(run({"describe", "gpu-3"}).out, HasSubstr("Kind:  Gpu\n"));
  EXPECT_EQ(run({"describe", "gpu-4"}).status, 3);
  EXPECT_EQ(run({"describe", "nobody"}).err, "berth: there is no object \"nobody\"\n");
  answer("GET /v1/tenants/detector", R"({"kind":"Tenant","metadata":{"name":"detector"}})");
  const Printed both = run({"describe", "detector"});
  EXPECT_EQ(both.status, 2);
  EXPECT_EQ(both.err,
            "berth: wanted one object, found 2 of the name \"detector\": tenant/detector, service/vision/detector; "
            "KIND/NAME says which\n");
}

TEST_F(Get, SelectsByPhase) {
  answer("GET /v1/services?limit=100",
         list_of(service_object("a", "x", "Running") + "," + service_object("a", "y", "Waiting") + "," +
                 service_object("b", "z", "Starting")));
  const auto names = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"get", "services", "-o", "name"});
    return run(words).out;
  };
  EXPECT_EQ(names({"--phase", "running"}), "service/a/x\n");
  EXPECT_EQ(names({"--phase", "Waiting,Starting"}), "service/a/y\nservice/b/z\n");
  EXPECT_EQ(names({"-A"}), "service/a/x\nservice/a/y\nservice/b/z\n");
  EXPECT_EQ(run({"get", "services", "--phase", "draining"}).err, "berth: there are no such services\n");
  std::string drained = gpu_object(1);
  drained.replace(drained.find(R"("scheduling_reason")"), 0, R"("drained":true,)");
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0) + "," + drained));
  EXPECT_EQ(run({"get", "gpus", "--phase", "drained", "-o", "name"}).out, "gpu/gpu-1\n");
  EXPECT_EQ(run({"get", "gpus", "--phase", "cordoned", "-o", "name"}).out, "gpu/gpu-0\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"get", "services", "--phase", "done"},
                                             {"get", "tenants", "--phase", "running"},
                                             {"get", "all", "--phase", "running"},
                                             {"get", "services", "-A", "-t", "a"}}) {
    EXPECT_EQ(run(words).status, 2) << words.back();
  }
}

TEST_F(Get, AFinishedDrainIsDrained) {
  std::string drained = gpu_object(1);
  drained.replace(drained.find(R"("scheduling_reason")"), 0, R"("drained":true,)");
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0) + "," + drained));
  answer("GET /v1/gpus/gpu-1", drained);
  answer("GET /v1/slices?limit=500", list_of(""));
  answer("GET /v1/services?limit=100", list_of(""));
  answer("GET /v1/status", kStatusAtNoon);
  EXPECT_THAT(run({"get", "gpus"}).out, HasSubstr("gpu-1   A100-80GB   node-0   ok       drained      8"));
  const std::string described = run({"describe", "gpu", "gpu-1"}).out;
  EXPECT_THAT(described, HasSubstr("Scheduling:         drained\n"));
  EXPECT_THAT(described, Not(HasSubstr("Drained:")));
  const std::string top = run({"top", "--once"}).out;
  EXPECT_THAT(top, HasSubstr("GPUs     2 (2 ok, 0 lost; 0 open, 1 cordoned, 0 draining, 1 drained)\n"));
  EXPECT_THAT(top, HasSubstr("gpu-1   A100-80GB   ok       drained      8       25.00%\n"));
}

TEST_F(Get, ListsEvents) {
  answer("GET /v1/status", kStatusAtNoon);
  answer("GET /v1/events?limit=500",
         list_of(event_object(1, "ServiceSet", "vision") + "," + event_object(2, "ServiceRemoved", "media")));
  EXPECT_EQ(run({"get", "events"}).out,
            "EVENT   KIND             OBJECT             AGE   MESSAGE\n"
            "1       ServiceSet       service/vision/a   48s   odd?[2J\n"
            "2       ServiceRemoved   service/media/a    47s   odd?[2J\n");
  EXPECT_EQ(run({"get", "events", "-t", "media", "-o", "name"}).out, "event/2\n");
  EXPECT_THAT(run({"get", "events", "-o", "json"}).out, HasSubstr("\"odd\\u001b[2J\""));
}

TEST_F(Get, ATableOfEventsBeginsWithTheLatest) {
  std::string events;
  for (int i = 1; i <= 120; ++i) events += (events.empty() ? "" : ",") + event_object(i % 40, "GpuLost", "vision");
  answer("GET /v1/events?limit=500", list_of(events));
  const Printed printed = run({"get", "events"});
  EXPECT_EQ(std::ranges::count(printed.out, '\n'), 101);
  EXPECT_EQ(printed.err, "berth: 20 earlier events: -o json has all of them\n");
}

TEST_F(Get, ListsAll) {
  answer("GET /v1/status", kStatusAtNoon);
  answer("GET /v1/tenants?limit=500", list_of(R"({"kind":"Tenant","metadata":{"name":"vision"}})"));
  answer("GET /v1/services?limit=100", list_of(kDetector));
  answer("GET /v1/tenants/vision/services?limit=100", list_of(kDetector));
  answer("GET /v1/nodes?limit=500", list_of(R"({"kind":"Node","metadata":{"name":"node-0"},"status":{"gpus":[]}})"));
  answer("GET /v1/gpus?limit=500", list_of(gpu_object(0)));
  answer("GET /v1/slices?limit=500", list_of(""));
  answer("GET /v1/plans?limit=100", list_of(""));
  const Printed printed = run({"get", "all"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  for (const char* part : {"Tenants:\n  NAME", "\nServices:\n  TENANT   NAME", "\nNodes:\n", "\nGpus:\n",
                           "\nSlices: none\n", "\nPlans: none\n"}) {
    EXPECT_THAT(printed.out, HasSubstr(part));
  }
  EXPECT_EQ(run({"get", "all", "-o", "name"}).out, "tenant/vision\nservice/vision/detector\nnode/node-0\ngpu/gpu-0\n");
  EXPECT_EQ(run({"get", "all", "-t", "vision", "-o", "name"}).out, "service/vision/detector\n");
  EXPECT_THAT(run({"get", "all", "-o", "json"}).out, HasSubstr("\"items\": ["));
  EXPECT_EQ(run({"get", "all", "gpu-0"}).status, 2);
  EXPECT_EQ(run({"get", "all", "-w"}).status, 2);
}

TEST_F(Get, WatchesWhatChanges) {
  answer("GET /v1/status", kStatusAtNoon);
  answer("GET /v1/services?limit=100",
         list_of(service_object("a", "x", "Waiting") + "," + service_object("a", "y", "Running")));
  answer("GET /v1/services?limit=100",
         list_of(service_object("a", "x", "Running") + "," + service_object("a", "y", "Running")));
  answer("GET /v1/services?limit=100", list_of(service_object("a", "x", "Running")));
  fail_with("GET /v1/services?limit=100", ErrorCode::kNoServer);
  const Printed printed = run({"get", "services", "-w"});
  EXPECT_EQ(printed.status, 7);
  EXPECT_EQ(printed.out,
            "TENANT   NAME   PHASE     SERVING   REQUESTS/MIN   IN TIME   P99 MS   TARGET MS   AGE    NOT MET\n"
            "a        x      Waiting   0/-       -              -         -        100         1h1m   -\n"
            "a        y      Running   0/-       -              -         -        100         1h1m   -\n"
            "a        x      Running   0/-       -              -         -        100         1h1m   -\n"
            "service/a/y gone\n");
}

TEST_F(Get, WatchesEventsFromTheLastOneOn) {
  answer("GET /v1/events?limit=500&after=0", list_of(event_object(1, "ServiceSet", "vision")));
  answer("GET /v1/events?limit=500&after=1", list_of(""));
  answer("GET /v1/events?limit=500&after=1", list_of(event_object(2, "ServiceSet", "vision")));
  fail_with("GET /v1/events?limit=500&after=2", ErrorCode::kNoServer);
  EXPECT_EQ(run({"get", "events", "-w", "-o", "name"}).out, "event/1\nevent/2\n");
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
                                             {"get", "tenants", "-t", "vision"},
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

TEST_F(Get, TopSaysThatTheServerIsGone) {
  fail_with("GET /v1/status", ErrorCode::kUnavailable);  // it ended while it answered
  fail_with("GET /v1/status", ErrorCode::kNoServer);
  const Printed printed = run({"top"});
  EXPECT_EQ(printed.status, 7);
  EXPECT_THAT(printed.err, HasSubstr("Start one with `berth up`"));
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
