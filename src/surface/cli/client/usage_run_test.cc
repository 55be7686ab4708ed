#include <gmock/gmock.h>

#include "surface/cli/client/test_server.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;

constexpr const char* kUsage =
    R"({"items":[{"resource":"gpu-0-1g.10gb-6","epoch":7,"sequence":12,"tenant":"media, \"new\"","service":"tagger",)"
    R"("holders":[{"tenant":"media","service":"tagger"}],"node":"node-0","gpu":"gpu-0","gpu_model":"A100-80GB",)"
    R"("profile":"1g.10gb","start":6,"units":1,"sms":14,"memory_mib":9728,"role":"inference","state":"held",)"
    R"("price_version":1,"usd_per_gpu_hour":"3.673","observed":true,"weight":8,"capacity":56,)"
    R"("from":"2026-11-22T10:00:00.000000Z","to":null,"open":true},)"
    R"({"resource":"gpu-0","epoch":null,"sequence":3,"tenant":null,"service":null,"holders":[],"node":"node-0",)"
    R"("gpu":"gpu-0","gpu_model":"A100-80GB","profile":null,"start":7,"units":1,"sms":null,"memory_mib":null,)"
    R"("role":null,"state":"free","price_version":null,"usd_per_gpu_hour":null,)"
    R"("observed":false,"weight":null,"capacity":56,)"
    R"("from":"2026-11-22T10:00:00.000000Z","to":"2026-11-22T10:00:05.000000Z","open":false}],)"
    R"("metadata":{"continue":null}})";

using Usage = testing::ClientTest;

TEST_F(Usage, IsATableOrCsvOrJson) {
  answer("GET /v1/usage?limit=500", kUsage);
  const Printed table = run({"usage"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(
      table.out,
      HasSubstr("GPU     START   UNITS   PROFILE   GENERATION   STATE              WEIGHT   HOLDER         FROM"));
  EXPECT_THAT(
      table.out,
      HasSubstr("gpu-0   6       1       1g.10gb   7            held               8/56     media/tagger   2026"));
  EXPECT_THAT(table.out, HasSubstr("Z   now\n"));
  EXPECT_THAT(table.out, HasSubstr("free, unobserved   "));
  EXPECT_EQ(
      run({"usage", "--format", "csv"}).out,
      "resource,epoch,sequence,tenant,service,holders,node,gpu,gpu_model,profile,start,units,sms,memory_mib,role,"
      "from,to,state,price_version,usd_per_gpu_hour,observed,weight,capacity\n"
      "gpu-0-1g.10gb-6,7,12,\"media, \"\"new\"\"\",tagger,media/tagger,node-0,gpu-0,A100-80GB,1g.10gb,6,1,14,9728,"
      "inference,2026-11-22T10:00:00.000000Z,,held,1,3.673,true,8,56\n"
      "gpu-0,,3,,,,node-0,gpu-0,A100-80GB,,7,1,,,,2026-11-22T10:00:00.000000Z,2026-11-22T10:00:05.000000Z,free,,"
      ",false,,56\n");
  EXPECT_THAT(run({"usage", "--format", "json"}).out, HasSubstr("\"usd_per_gpu_hour\": \"3.673\""));
}

TEST_F(Usage, AsksForTheTimesGiven) {
  answer("GET /v1/usage?limit=500&from=2026-11-22T10%3A00%3A00%2B01%3A00&to=x", kUsage);
  EXPECT_EQ(run({"usage", "--from", "2026-11-22T10:00:00+01:00", "--to", "x"}).status, 0);
  const Printed wrong = run({"usage", "--format", "xml"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--format: wanted table, json or csv, found"));
}

}  // namespace
}  // namespace berth::cli
