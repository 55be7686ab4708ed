#include <gmock/gmock.h>

#include "base/json/document.h"
#include "live/chain/field_hash.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/test_server.h"

namespace berth::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Printed;
using ::testing::StartsWith;

constexpr const char* kService = R"(# a comment
apiVersion: berth.dev/v1alpha1
kind: GpuService
metadata:
  name: detector
  namespace: vision
  labels: {team: "7"}
spec:
  slo: {latency_ms: 100}
  profile: {format: csv, path: rows/profiles.csv, model: m}
  arrivals: {format: csv, path: rows/requests.csv, repeat: true}
---
apiVersion: berth.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
)";

class Apply : public testing::ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    std::filesystem::create_directory(at("rows"));
    write("rows/profiles.csv",
          "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
          "m,A100-80GB,1g.10gb,4,1,33.25,120.5\nother,A30,full,1,1,1,1\n");
    write("rows/requests.csv", "second,requests\n0,3\n2,5\n");
    write("s.yaml", kService);
  }
  static std::string versioned(const std::string& version) {
    return R"({"metadata":{"resourceVersion":")" + version + R"("}})";
  }
};

TEST_F(Apply, WarnsOfRowsThatContradictThemselvesAndKeepsTheDigitsOfThoseThatAreRefused) {
  write("rows/profiles.csv",
        "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
        "m,H100-80GB,1g.10gb,1,1,106.0,10.0\nm,H100-80GB,2g.20gb,4,1,53.0,32\n");
  answer("PUT /v1/tenants/vision", versioned("1"), 201);
  answer("PUT /v1/tenants/vision/services/detector", versioned("2"), 201);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.err,
            "berth: warning: " + at("rows/profiles.csv") +
                ": the columns of 2 of 2 rows contradict each other: rate x latency / (batch x processes) is outside "
                "0.75 to 1.05; the worst, line 3 (H100-80GB, 2g.20gb), has 0.424: 53 requests per second, where 1 "
                "process with batches of 4 in 32 ms serves 125\n"
                "berth: warning: " +
                at("rows/profiles.csv") +
                ": \"H100-80GB\" is taken as H100-80GB-SXM5; the other board is H100-80GB-PCIe\n");
  const std::string& body = calls()[3].body;
  EXPECT_NE(body.find(R"("requests_per_second":106.0,"latency_ms":10.0})"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("requests_per_second":53,"latency_ms":32})"), std::string::npos) << body;
}

TEST_F(Apply, CreatesTheTenantFirstAndSendsFilesAsRows) {
  answer("PUT /v1/tenants/vision", versioned("1"), 201);
  answer("PUT /v1/tenants/vision/services/detector", versioned("2"), 201);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.out, "tenant/vision created\nservice/vision/detector created\n");
  ASSERT_EQ(calls().size(), 4U);
  EXPECT_EQ(calls()[1].body,
            R"({"apiVersion":"berth.dev/v1alpha1","kind":"Tenant","metadata":{"name":"vision"},"spec":{}})");
  EXPECT_EQ(
      calls()[3].body,
      R"({"apiVersion":"berth.dev/v1alpha1","kind":"GpuService",)"
      R"("metadata":{"name":"detector","namespace":"vision","labels":{"team":"7"}},"spec":{"slo":{"latency_ms":100},)"
      R"("profile":{"format":"csv","model":"m","rows":[{"model":"m","gpu":"A100-80GB","profile":"1g.10gb","batch":4,)"
      R"("processes":1,"requests_per_second":33.25,"latency_ms":120.5}]},"arrivals":{"format":"csv",)"
      R"("rows":[{"second":0,"requests":3},{"second":2,"requests":5}],"repeat":true}}})");
  for (const HttpCall& call : calls()) {
    EXPECT_EQ(find_header(call.headers, "Authorization"), "Bearer secret");
    EXPECT_EQ(call.timeout, Micros::seconds(10));
  }
}

TEST_F(Apply, ComparesVersionsToSayWhatChanged) {
  answer("GET /v1/tenants/vision", versioned("1"));
  answer("PUT /v1/tenants/vision", versioned("1"));
  answer("GET /v1/tenants/vision/services/detector", versioned("4"));
  answer("PUT /v1/tenants/vision/services/detector", versioned("5"));
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.out, "tenant/vision unchanged\nservice/vision/detector configured\n") << printed.err;
}

TEST_F(Apply, WhatWasNotThereIsCreatedWhateverTheAnswerIs) {
  answer("PUT /v1/tenants/vision", versioned("1"), 200);
  answer("PUT /v1/tenants/vision/services/detector", versioned("2"), 200);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.out, "tenant/vision created\nservice/vision/detector created\n") << printed.err;
}

TEST_F(Apply, LongRowsBecomeBlobsThatAreSentOnce) {
  std::string csv = "second,requests\n";
  for (int second = 0; second < 20'000; ++second) csv += std::to_string(second) + ",7\n";
  write("rows/requests.csv", csv);
  const std::string path = "/v1/blobs/" + chain::hex_of(chain::sha256(csv));
  answer("PUT /v1/tenants/vision", versioned("1"), 201);
  answer("PUT " + path, "{}", 201);
  answer("PUT /v1/tenants/vision/services/detector", versioned("2"), 201);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 0) << printed.err;
  ASSERT_EQ(calls().size(), 6U);
  EXPECT_EQ(calls()[3].method, "HEAD");
  EXPECT_THAT(calls()[3].url, EndsWith(path));
  EXPECT_EQ(calls()[4].method, "PUT");
  EXPECT_EQ(calls()[4].body, csv);
  EXPECT_EQ(find_header(calls()[4].headers, "Content-Type"), "application/octet-stream");
  EXPECT_THAT(calls()[5].body,
              HasSubstr(R"("arrivals":{"format":"csv","rows":{"blob":")" + path.substr(10) + R"("},"repeat":true})"));
  EXPECT_THAT(calls()[5].body, HasSubstr(R"("rows":[{"model":"m")")) << "a short table stays";

  answer("HEAD " + path, "");
  EXPECT_EQ(run({"apply", "-f", at("s.yaml")}).status, 0);
  EXPECT_EQ(calls().size(), 11U) << "it is there";
}

TEST_F(Apply, ABlobThatIsRefusedEndsTheObject) {
  std::string csv = "second,requests\n";
  for (int second = 0; second < 20'000; ++second) csv += std::to_string(second) + ",7\n";
  write("rows/requests.csv", csv);
  answer("PUT /v1/tenants/vision", versioned("1"), 201);
  answer("PUT /v1/blobs/" + chain::hex_of(chain::sha256(csv)),
         R"({"error":{"code":"read_only","message":"the disk is full"}})", 503);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 7);
  EXPECT_THAT(printed.err, HasSubstr("service/vision/detector: the disk is full"));
}

TEST_F(Apply, WhatRefersToABlobIsLeftToTheServer) {
  std::string text = kService;
  const std::string from = "arrivals: {format: csv, path: rows/requests.csv, repeat: true}";
  const std::string blob(64, 'a');
  text.replace(text.find(from), from.size(), "arrivals: {format: csv, rows: {blob: " + blob + "}}");
  write("s.yaml", text);
  answer("PUT /v1/tenants/vision", versioned("1"), 201);
  answer("PUT /v1/tenants/vision/services/detector", versioned("2"), 201);
  EXPECT_EQ(run({"apply", "-f", at("s.yaml")}).status, 0);
  EXPECT_THAT(calls().back().body, HasSubstr(R"("rows":{"blob":")" + blob + R"("})"));
}

TEST_F(Apply, ReadsTheStandardInputAndJson) {
  answer("PUT /v1/tenants/vision", "{}", 201);
  const std::string tenant =
      R"({"apiVersion":"berth.dev/v1alpha1","kind":"Tenant","metadata":{"name":"vision","namespace":null,"uid":"u",)"
      R"("resourceVersion":"7","creationTimestamp":"2026-11-24T00:00:00Z"},"spec":{},"status":{}})";
  for (const std::string& text : {tenant, "{\"items\":[" + tenant + "]}", tenant + "\n---\n"}) {
    const Printed printed = run({"apply", "-f", "-"}, text);
    EXPECT_EQ(printed.out, "tenant/vision created\n") << printed.err;
    EXPECT_THAT(calls().back().body, HasSubstr(R"("metadata":{"name":"vision","resourceVersion":"7"})"));
  }
}

TEST_F(Apply, RefusesLocallyAndSendsNothing) {
  struct Case {
    std::string from;
    std::string to;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"latency_ms: 100", "latency: 100", "s.yaml:9:9: spec.slo: unknown key \"latency\"; did you mean latency_ms?"},
      {"latency_ms: 100", "latency_ms: -1", "s.yaml:9:21: spec.slo.latency_ms: wanted a number above 0"},
      {"latency_ms: 100", "latency_ms: \"100\"", "s.yaml:9:21: spec.slo.latency_ms: wanted a number above 0"},
      {"rows/requests.csv", "rows/none.csv", "s.yaml:11:33: spec.arrivals.path: "},
      {"model: m}", "model: q}", "s.yaml:10:58: spec.profile.model: "},
      {"name: detector", "name: Detector", "s.yaml:5:9: metadata.name: wanted a DNS label"},
      {"  namespace: vision\n", "", "metadata.namespace: wanted a DNS label"},
      {"kind: GpuService", "kind: Service", "s.yaml:3:7: kind: wanted Tenant or GpuService, found \"Service\""},
      {"team: \"7\"", "team: \"" + std::string(64, 't') + "\"",
       "metadata.labels.team: wanted a text of at most 63 bytes"},
      {"team: \"7\"", std::string(254, 't') + ": \"7\"", "metadata.labels: wanted keys of 1 to 253 bytes"},
      {"team: \"7\"", "team: \"a\\e[2J\"",
       "metadata.labels.team: wanted a text of at most 63 bytes without control "
       "characters, found \"a\\x1b[2J\""},
      {"team: \"7\"", "\"a\\u009b\": x",
       "metadata.labels: wanted keys of 1 to 253 bytes without control characters, found \"a\\xc2\\x9b\""},
      {"name: detector", "name: 1e3",
       "s.yaml:5:9: metadata.name: wanted a text: put it in quotes, found 1e3, which is a number"},
      {"name: detector", "name: 0x1f", "wanted a text: put it in quotes, found 0x1f, which is a number"},
      {"name: detector", "name: off", "wanted a text: put it in quotes, found off, which is a truth value"},
      {"name: detector", "name: null", "metadata.name: wanted a text: put it in quotes, found null, which is no value"},
      {"namespace: vision", "namespace: 007",
       "metadata.namespace: wanted a text: put it in quotes, found 007, which is a number"},
      {"{name: vision}", "{name: true}", "s.yaml:15:18: metadata.name: wanted a text: put it in quotes, found true"},
      {"v1alpha1", "v1", "s.yaml:2:13: apiVersion: wanted berth.dev/v1alpha1"},
      {"  slo: {", "  slo: [", "s.yaml:9:"},
      {"metadata: {name: vision}", "metadata: {name: vision}\nstuff: 1", "s.yaml:16:1: unknown key \"stuff\""},
      {"metadata: {name: vision}", "metadata: {name: vision}\nspec: {a: 1}", "s.yaml:16:8: spec: unknown key \"a\""},
  };
  for (const Case& each : cases) {
    std::string text = kService;
    const std::size_t place = text.find(each.from);
    ASSERT_NE(place, std::string::npos) << each.from;
    write("s.yaml", text.replace(place, each.from.size(), each.to));
    const Printed printed = run({"apply", "-f", at("s.yaml")});
    EXPECT_EQ(printed.status, 2) << each.to;
    EXPECT_THAT(printed.err, StartsWith("berth: ")) << each.to;
    EXPECT_THAT(printed.err, HasSubstr(each.expected)) << each.to;
    EXPECT_EQ(printed.out, "");
    EXPECT_TRUE(calls().empty());
  }
  EXPECT_EQ(run({"apply", "-f", at("none.yaml")}).status, 2);
  EXPECT_EQ(run({"apply", "-f", at("rows")}).status, 2);
  EXPECT_EQ(run({"apply"}).status, 2);
  EXPECT_TRUE(calls().empty());
}

TEST_F(Apply, SendsCountsAndTablesOfOtherFormatsAsRows) {
  write("rows/counts.txt", "3\n0\n0\n");
  write("rows/parva.csv", "Mig instance,Batch size,Workload Number,Throughput,Latency\n1,2,3,10,0.2\n");
  std::string text = kService;
  const auto change = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  change("{format: csv, path: rows/requests.csv, repeat: true}", "{format: rps-text, path: rows/counts.txt, scale: 2}");
  change("profile: {format: csv, path: rows/profiles.csv, model: m}",
         "profile: {format: parvagpu, path: rows/parva.csv}\n  accuracy: {before: 0.8, after: 0.8}\n"
         "  variants: [{name: small, profile: {format: csv, path: rows/profiles.csv, model: m},"
         " accuracy: {before: 0.7, after: 0.7}}]");
  write("s.yaml", text);
  answer("PUT /v1/tenants/vision", "{}", 201);
  answer("PUT /v1/tenants/vision/services/detector", "{}", 201);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  ASSERT_EQ(printed.status, 0) << printed.err;
  const std::string& body = calls().back().body;
  // The length of the trace is kept, and in a file of one model the model gets the service's name.
  EXPECT_THAT(body, HasSubstr(R"("rows":[{"second":0,"requests":3},{"second":2,"requests":0}],"scale":2})"));
  EXPECT_THAT(body, HasSubstr(R"("profile":{"format":"csv","model":"detector","rows":[{"model":"detector",)"));
  EXPECT_THAT(body, HasSubstr(R"({"name":"small","profile":{"format":"csv","model":"m","rows":[{"model":"m",)"));
  EXPECT_THAT(body, ::testing::Not(HasSubstr("path")));
}

TEST_F(Apply, PrintsTheServersErrorsWithTheirStatus) {
  answer("PUT /v1/tenants/vision", "{}", 201);
  answer("PUT /v1/tenants/vision/services/detector",
         R"({"error":{"code":"conflict","message":"the service has changed","field":"metadata.resourceVersion",)"
         R"("wanted":"3","found":"5","request_id":"r"}})",
         409);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 5);
  EXPECT_EQ(printed.out, "tenant/vision created\n");
  EXPECT_THAT(printed.err, HasSubstr("service/vision/detector: metadata.resourceVersion: the service has changed "
                                     "(wanted 3, found 5)\n"));
}

TEST_F(Apply, StopsWhenTheServerIsGone) {
  fail_with("GET /v1/tenants/vision", ErrorCode::kNoServer);
  const Printed printed = run({"apply", "-f", at("s.yaml")});
  EXPECT_EQ(printed.status, 7);
  EXPECT_EQ(calls().size(), 1U);
  EXPECT_THAT(printed.err, HasSubstr("berth up"));
}

TEST_F(Apply, TheExampleIsAccepted) {
  const char* source = std::getenv("BERTH_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  answer("PUT /v1/tenants/photos", "{}", 201);
  answer("PUT /v1/tenants/photos/services/tagger", "{}", 201);
  const Printed printed = run({"apply", "-f", std::string(source) + "/examples/live/service.yaml"});
  EXPECT_EQ(printed.out, "tenant/photos created\nservice/photos/tagger created\n") << printed.err;
}

TEST_F(Apply, NamesInQuotesAreTexts) {
  write("s.yaml",
        "apiVersion: berth.dev/v1alpha1\nkind: Tenant\nmetadata: {name: \"007\"}\n---\n"
        "apiVersion: berth.dev/v1alpha1\nkind: Tenant\nmetadata: {name: 'on'}\n");
  answer("PUT /v1/tenants/007", versioned("1"), 201);
  answer("PUT /v1/tenants/on", versioned("2"), 201);
  EXPECT_EQ(run({"apply", "-f", at("s.yaml")}).out, "tenant/007 created\ntenant/on created\n");
}

TEST_F(Apply, DeleteTakesServicesFirst) {
  answer("DELETE /v1/tenants/vision", "{}");
  answer("DELETE /v1/tenants/vision/services/detector", "{}");
  EXPECT_EQ(run({"delete", "-f", at("s.yaml")}).out, "service/vision/detector deleted\ntenant/vision deleted\n");
  EXPECT_EQ(run({"delete", "service", "detector", "-t", "vision"}).out, "service/vision/detector deleted\n");
  EXPECT_EQ(run({"delete", "tenants", "vision"}).out, "tenant/vision deleted\n");
  EXPECT_EQ(run({"delete", "service/vision/detector"}).out, "service/vision/detector deleted\n");
}

TEST_F(Apply, DeleteNeedsOnlyKindsAndNames) {
  std::filesystem::remove(at("rows/profiles.csv"));
  EXPECT_EQ(run({"apply", "-f", at("s.yaml")}).status, 2);
  answer("DELETE /v1/tenants/vision", "{}");
  answer("DELETE /v1/tenants/vision/services/detector", "{}");
  EXPECT_EQ(run({"delete", "-f", at("s.yaml")}).out, "service/vision/detector deleted\ntenant/vision deleted\n");
}

TEST_F(Apply, DeleteRefusesWhatItCannotMean) {
  EXPECT_EQ(run({"delete", "service", "detector"}).status, 2);
  EXPECT_EQ(run({"delete", "gpu", "gpu-1"}).status, 2);
  EXPECT_EQ(run({"delete"}).status, 2);
  EXPECT_EQ(run({"delete", "service", "..", "-t", "vision"}).status, 2);  // it would be the tenant
  EXPECT_EQ(run({"delete", "service", "x", "-f", at("s.yaml")}).status, 2);
  EXPECT_EQ(run({"delete", "-f", at("s.yaml"), "-t", "vision"}).status, 2);
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(run({"delete", "service", "a/b", "-t", "vision"}).status, 3);
  EXPECT_THAT(calls().back().url, HasSubstr("/services/a%2Fb"));
}

}  // namespace
}  // namespace berth::cli
