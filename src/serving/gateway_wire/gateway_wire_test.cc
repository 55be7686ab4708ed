#include "serving/gateway_wire/gateway_wire.h"

#include <gtest/gtest.h>

#include <functional>

namespace berth::serving {
namespace {

EndpointTable sample_table() {
  Endpoint serve{.slice = "gpu-3-1g.10gb-2",
                 .generation = UINT64_MAX,
                 .url = "http://127.0.0.1:40000",
                 .key = "abc",
                 .says_who_it_is = true,
                 .is_leaving = false,
                 .in_flight_max = 8,
                 .latencies = {{.batch = 1, .latency = Micros(2'000)}, {.batch = 4, .latency = Micros(2'500)}}};
  Endpoint other{.slice = "gpu-4", .generation = 1, .url = "http://127.0.0.1:1", .key = "", .is_leaving = true};
  return {
      .number = 7,
      .services = {{.tenant = "vision",
                    .service = "digits \"é\"",
                    .target = Micros(50'000),
                    .answer = Micros::seconds(30),
                    .replicas = {serve, other}},
                   {.tenant = "vision", .service = "none", .target = Micros(1), .answer = Micros(1), .replicas = {}}}};
}

RequestReport sample_report() {
  RequestRecord first{.number = 4,
                      .tenant = "vision",
                      .service = "digits",
                      .second = 1'800'000'000,
                      .arrivals = 10,
                      .in_time = 6,
                      .late = 1,
                      .dropped = 2,
                      .queued = 1,
                      .latencies = {{.bucket = 3, .count = 6}, {.bucket = kLatencyBucketMax, .count = 1}}};
  RequestRecord second{.number = 5, .tenant = "vision", .service = "digits", .second = 1'800'000'001};
  return {.gateway = "8f3c", .table = 7, .records = {first, second}};
}

TEST(GatewayWire, ATableReadsAsWhatWasWritten) {
  const std::string text = endpoint_table_json(sample_table());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(read_endpoint_table(text, "up").value(), sample_table());
  EXPECT_EQ(read_endpoint_table(R"({"table":0,"services":[],"new_key":1})", "up").value(), EndpointTable{});
}

TEST(GatewayWire, AReportReadsAsWhatWasWritten) {
  EXPECT_EQ(read_request_report(request_report_json(sample_report()), "gateway").value(), sample_report());
  EXPECT_EQ(read_request_report(R"({"gateway":"a","table":3,"records":[]})", "gateway").value(),
            (RequestReport{.gateway = "a", .table = 3, .records = {}}));
}

TEST(GatewayWire, AnAnswerReadsAsWhatWasWritten) {
  EXPECT_EQ(records_answer_json(12), R"({"until":12})");
  EXPECT_EQ(read_records_answer(R"({"until":12})", "up").value(), 12U);
  EXPECT_EQ(read_records_answer(R"({"until":-1})", "up").error().message,
            "up:1:10: until: wanted a whole number from 0 to 18446744073709551615, found -1");
}

TEST(GatewayWire, RecordsAreNotLargerThanTheirBound) {
  RequestRecord record{.number = UINT64_MAX,
                       .tenant = std::string(200, '"'),
                       .service = std::string(200, '\\'),
                       .second = 1'000'000'000'000,
                       .arrivals = 1'000'000'000'000,
                       .in_time = 1'000'000'000'000,
                       .late = 1'000'000'000'000,
                       .dropped = 1'000'000'000'000,
                       .queued = 1'000'000'000'000};
  for (std::uint32_t bucket = 5'000; bucket < 5'100; ++bucket) {
    record.latencies.push_back({.bucket = bucket, .count = 1'000'000'000'000});
  }
  const std::string text = request_report_json({.gateway = "", .table = 0, .records = {record}});
  EXPECT_LE(text.size(), request_record_bytes_max(record) + 40);
}

struct WrongTable {
  std::function<void(EndpointTable&)> change;
  std::string message;
};

TEST(GatewayWire, TablesThatCannotBeAreRefused) {
  const std::vector<WrongTable> cases = {
      {[](EndpointTable& t) { t.services[1].service = t.services[0].service; },
       "services[1]: a second service of the same tenant and name"},
      {[](EndpointTable& t) { t.services[0].replicas[1] = t.services[0].replicas[0]; },
       "services[0].replicas[1]: a second replica of the same slice and generation"},
      {[](EndpointTable& t) { t.services[0].tenant.clear(); }, "services[0].tenant: wanted a name of 1 to 200"},
      {[](EndpointTable& t) { t.services[0].target = Micros(0); },
       "services[0].target_us: wanted a whole number from 1"},
      {[](EndpointTable& t) { t.services[0].answer = Micros(49'999); },
       "services[0].answer_us: wanted a whole number from 50000"},
      {[](EndpointTable& t) { t.services[0].replicas[0].url = "http://10.0.0.1:80"; },
       "services[0].replicas[0].url: wanted http://127.0.0.1:PORT, found \"http://10.0.0.1:80\""},
      {[](EndpointTable& t) { t.services[0].replicas[0].url = "http://127.0.0.1:80/"; }, "url: wanted http://127"},
      {[](EndpointTable& t) { t.services[0].replicas[0].url = "http://127.0.0.1:65536"; }, "url: wanted http://127"},
      {[](EndpointTable& t) { t.services[0].replicas[0].key = "a\r\nb"; },
       "services[0].replicas[0].key: wanted at most 256 visible characters of ASCII, found another text"},
      {[](EndpointTable& t) { t.services[0].replicas[0].slice = "a b"; }, "slice: wanted visible characters"},
      {[](EndpointTable& t) { t.services[0].replicas[0].in_flight_max = 0; }, "in_flight_max: wanted a whole number"},
      {[](EndpointTable& t) { t.services[0].replicas[0].latencies[1].batch = 1; },
       "services[0].replicas[0].latencies[1].batch: wanted a batch above 1"},
  };
  for (const WrongTable& wrong : cases) {
    EndpointTable table = sample_table();
    wrong.change(table);
    const auto read = read_endpoint_table(endpoint_table_json(table), "up");
    ASSERT_FALSE(read) << wrong.message;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(read.error().message.starts_with("up:1:")) << read.error().message;
    EXPECT_NE(read.error().message.find(wrong.message), std::string::npos) << read.error().message;
  }
}

struct WrongReport {
  std::function<void(RequestReport&)> change;
  std::string message;
};

TEST(GatewayWire, ReportsThatCannotBeAreRefused) {
  const std::vector<WrongReport> cases = {
      {[](RequestReport& r) { r.gateway = "a b"; }, "gateway: wanted visible characters"},
      {[](RequestReport& r) { r.records[0].number = 0; }, "records[0].number: wanted a number above 0, found 0"},
      {[](RequestReport& r) { r.records[1].number = 6; }, "records[1].number: wanted 5, found 6"},
      {[](RequestReport& r) { r.records[0].late = -1; }, "records[0].late: wanted a whole number from 0"},
      {[](RequestReport& r) { r.records[0].late = 2; }, "records[0].latencies: wanted counts of 8 answers, found 7"},
      {[](RequestReport& r) { r.records[0].latencies[1].bucket = 3; },
       "records[0].latencies[1][0]: wanted a whole number from 4 to 8191, found 3"},
  };
  for (const WrongReport& wrong : cases) {
    RequestReport report = sample_report();
    wrong.change(report);
    const auto read = read_request_report(request_report_json(report), "gateway");
    ASSERT_FALSE(read) << wrong.message;
    EXPECT_NE(read.error().message.find(wrong.message), std::string::npos) << read.error().message;
  }
}

TEST(GatewayWire, TextsThatAreNotTablesAreRefused) {
  for (const std::string_view text :
       {"", "[]", "{}", "null", R"({"table":1})", R"({"table":1,"services":{}})", R"({"table":"1","services":[]})",
        R"({"table":1,"services":[1]})", R"({"table":1,"services":[]} x)"}) {
    EXPECT_FALSE(read_endpoint_table(text, "up")) << text;
  }
  EXPECT_FALSE(read_request_report(std::string(kReportBytesMax + 1, ' '), "gateway"));
}

}  // namespace
}  // namespace berth::serving
