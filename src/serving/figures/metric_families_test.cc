#include "serving/figures/metric_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "serving/figures/figure_json.h"
#include "serving/figures/series_line.h"

namespace berth::serving {
namespace {

using ::testing::HasSubstr;

CounterFigures some_counters() {
  CounterFigures figures{.device = "simulated: a \"b\"\\", .lanes = 2, .lanes_busy = 1};
  figures.memory.limit_bytes = 100;
  ModelCounters model;
  model.name = "m";
  model.version = "1";
  model.totals.in_time = 3;
  model.totals.late = 1;
  model.totals.expired = 2;
  model.first_response = {2, 1, 0, 0, 1};
  model.answer_time = Micros(1'500);
  figures.models.push_back(model);
  model.name = "chat";
  model.version = "";
  figures.models.push_back(model);
  return figures;
}

/// The value of the sample with these labels; nothing: there is none.
std::optional<std::variant<double, MetricHistogram>> value_of(
    const std::vector<MetricFamily>& families, const std::string& name,
    const std::vector<std::pair<std::string, std::string>>& labels) {
  for (const MetricFamily& family : families) {
    if (family.name != name) continue;
    for (const MetricSample& sample : family.samples) {
      if (sample.labels == labels) return sample.value;
    }
  }
  return std::nullopt;
}

using Value = std::variant<double, MetricHistogram>;

TEST(MetricFamilies, HaveTheNamesOfTriton) {
  const auto families = metric_families(some_counters());
  EXPECT_EQ(families.front().name, "nv_inference_request_success");
  EXPECT_EQ(families.front().kind, MetricKind::kCounter);
  EXPECT_EQ(families.front().samples.size(), 1U);  // backends have none
  EXPECT_EQ(value_of(families, "nv_inference_request_success", {{"model", "m"}, {"version", "1"}}), Value(4.0));
  EXPECT_EQ(
      value_of(families, "nv_inference_request_failure", {{"model", "m"}, {"reason", "REJECTED"}, {"version", "1"}}),
      Value(2.0));
  EXPECT_EQ(value_of(families, "nv_inference_first_response_histogram_ms", {{"model", "m"}, {"version", "1"}}),
            Value(MetricHistogram{.bounds = {100, 500, 2'000, 5'000}, .counts = {2, 1, 0, 0, 1}, .sum = 1.5}));
}

TEST(MetricFamilies, LeaveOutWhatIsUnknown) {
  const auto families = metric_families(some_counters());
  EXPECT_EQ(value_of(families, "berth_device_info", {{"device", "simulated: a \"b\"\\"}}), Value(1.0));
  EXPECT_EQ(value_of(families, "berth_device_free_bytes", {}), std::nullopt);
  EXPECT_EQ(
      value_of(families, "berth_requests_ended_total", {{"model", "chat"}, {"version", ""}, {"outcome", "expired"}}),
      Value(2.0));
  EXPECT_EQ(value_of(families, "berth_memory_limit_bytes", {}), Value(100.0));
}

TEST(FigureJson, UnknownIsNull) {
  MemoryFigures memory{.limit_bytes = 9};
  memory.models.push_back(
      {.name = "m", .version = "1", .state = MemoryState::kLeaving, .lease_until_us = 1'800'000'000'000'000});
  EXPECT_EQ(
      memory_json(memory),
      R"({"limit_bytes":9,"reserved_bytes":0,"measured_bytes":0,"base_bytes":null,"device_free_bytes":null,"models":[)"
      R"({"name":"m","version":"1","state":"leaving","reserved_bytes":0,"measured_bytes":null,"accepted":0,)"
      R"("lease_until":"2027-01-15T08:00:00.000000Z","value":null,"load_us":null,"variant":null}]})");
  const std::vector<UsageItem> usage = {{.tenant = "t", .model = "m", .requests = 2, .device_us = 5}};
  EXPECT_EQ(usage_json(usage), R"({"items":[{"tenant":"t","model":"m","requests":2,"device_us":5,)"
                               R"("prompt_tokens":null,"completion_tokens":null}]})");
  const TimeFigures times{.started_us = 5,
                          .device = "cpu",
                          .items = {{.model = "m",
                                     .version = "1",
                                     .batch = 8,
                                     .times = {.count = 1, .sum_us = 4, .sum_squares = Int128{1} << 70U}}}};
  EXPECT_EQ(times_json(times),
            R"({"started_us":5,"device":"cpu","items":[{"model":"m","version":"1","sha256":null,"batch":8,"count":1,)"
            R"("sum_us":4,"sum_squares":1180591620717411303424}]})");
}

TEST(SeriesLine, HasTheCountsOfASecond) {
  ModelSecond second{.second = 7, .model = "m", .version = "1", .figures = {}};
  second.figures.requests = 2;
  second.figures.expired = 1;
  second.figures.latencies = {{.bucket = 9, .count = 1}};
  EXPECT_EQ(
      series_lines(std::span(&second, 1)),
      R"({"second":7,"model":"m","version":"1","requests":2,"in_time":0,"late":0,"dropped":1,"rejected":0,"expired":1,)"
      R"("failed":0,"cancelled":0,"batches":0,"rows":0,"queue_max":0,"latency_buckets":[[9,1]]})"
      "\n");
  second.version.clear();
  EXPECT_THAT(series_lines(std::span(&second, 1)), HasSubstr(R"("version":null,)"));
  EXPECT_THAT(series_lines(std::span(&second, 1)), HasSubstr(R"("batches":null,"rows":null)"));
}

}  // namespace
}  // namespace berth::serving
