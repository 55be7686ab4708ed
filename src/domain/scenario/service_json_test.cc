#include "domain/scenario/service_json.h"

#include <gtest/gtest.h>

#include <string>

#include "domain/mig/catalogue.h"

namespace berth::scenario {
namespace {

Scenario json_fleet() {
  Scenario scenario;
  scenario.fleet = {{.model = mig::find_gpu_model("A30").value(), .count = 2, .usd_per_gpu_hour = {}}};
  return scenario;
}

ServiceSpec small_service() {
  ServiceSpec service;
  service.name = "r\"50";
  service.target_ms = Decimal(1005, 10);
  service.target = Micros(100'500);
  service.table.points = {{"A30-24GB", "1g.6gb", 8, 1, Decimal(1, 10), Decimal(20)}};
  return service;
}

TEST(ServiceJson, SmallServiceIsWrittenWithItsDefaults) {
  EXPECT_EQ(
      service_spec_json(small_service(), json_fleet()),
      R"({"profile":{"format":"csv","model":"r\"50","rows":[{"model":"r\"50","gpu":"A30-24GB","profile":"1g.6gb",)"
      R"("batch":8,"processes":1,"requests_per_second":0.1,"latency_ms":20}]},"slo":{"latency_ms":100.5},)"
      R"("batching":{"slo_factor":0.45,"max_processes":3},"drop":"early","start_seconds":5,)"
      R"("accuracy":{"before":1,"after":1},"weight":1,"isolation":"mig"})");
}

TEST(ServiceJson, TablesOfBlobsAreWrittenAsReferences) {
  ServiceSpec service = small_service();
  service.arrivals = {CountTrace{{1, 2}}, 0, 2, Decimal(1), 60, false};
  service.variants = {{"v", service.table, {}}, {"w", service.table, {}}};
  const std::string text =
      service_spec_json(service, json_fleet(), {{"arrivals", "aa"}, {"profile", "bb"}, {"variants[1].profile", "cc"}});
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(text.starts_with(R"({"profile":{"format":"csv","model":"r\"50","rows":{"blob":"bb"}},)")) << text;
  EXPECT_TRUE(has(R"("arrivals":{"format":"csv","rows":{"blob":"aa"},"from_second":0,"seconds":2,)")) << text;
  EXPECT_TRUE(has(R"({"name":"v","profile":{"format":"csv","model":"r\"50","rows":[{)")) << text;
  EXPECT_TRUE(has(R"({"name":"w","profile":{"format":"csv","model":"r\"50","rows":{"blob":"cc"}})")) << text;
}

TEST(ServiceJson, ArrivalsAreRowsOrAGenerator) {
  const auto arrivals_of = [](const Arrivals& arrivals) {
    ServiceSpec service = small_service();
    service.arrivals = arrivals;
    const std::string text = service_spec_json(service, json_fleet());
    const std::size_t from = text.find("\"arrivals\":");
    return text.substr(from, text.find(",\"start_seconds\"") - from);
  };
  EXPECT_EQ(
      arrivals_of({CountTrace{{0, 3, 0, 0}}, 1, 9, Decimal(1), 60, true}),
      R"("arrivals":{"format":"csv","rows":[{"second":1,"requests":3},{"second":3,"requests":0}],"from_second":1,)"
      R"("seconds":9,"scale":1,"smooth_seconds":60,"repeat":true})");
  EXPECT_EQ(arrivals_of({Generator{Generator::Kind::kBursty, Decimal(5, 2)}, 0, 9, Decimal(3, 2), 60}),
            R"("arrivals":{"format":"bursty","requests_per_second":2.5,"from_second":0,"seconds":9,"scale":1.5,)"
            R"("smooth_seconds":60,"repeat":false})");
}

TEST(ServiceJson, TracesThatRowsCannotStateAreCountedInTheSecondsOfTheirWindow) {
  const auto rows_of = [](const Arrivals& arrivals) {
    ServiceSpec service = small_service();
    service.arrivals = arrivals;
    const std::string text = service_spec_json(service, json_fleet());
    const std::size_t from = text.find("\"rows\":", text.find("\"arrivals\":"));
    return text.substr(from, text.find(",\"scale\"") - from);
  };
  EXPECT_EQ(rows_of({MinuteTrace{{500, 3}}, 60, 90, Decimal(1), 60}),
            R"("rows":[{"second":19,"requests":1},{"second":39,"requests":1},{"second":59,"requests":1}],)"
            R"("from_second":0,"seconds":90)");
  EXPECT_EQ(rows_of({TimedTrace{{{999'999, 1, 1}, {1'000'000, 1, 1}, {1'500'000, 1, 1}, {4'000'000, 1, 1}}, 5}, 1, 3,
                     Decimal(1), 60}),
            R"("rows":[{"second":0,"requests":2},{"second":2,"requests":0}],"from_second":0,"seconds":3)");
}

TEST(ServiceJson, NumbersThatAreTooLongGetAnExponent) {
  EXPECT_EQ(readable_number(Decimal(1, 4)), "0.25");
  EXPECT_EQ(readable_number(Decimal::parse("1.5e-30").value()), "0.0000000000000000000000000000015");
  const Decimal small = Decimal::parse("1.2345678901234567890123e-28").value();
  EXPECT_EQ(readable_number(small), "0.0000000000012345678901234567890123e-16");
  EXPECT_EQ(Decimal::parse(readable_number(small)), small);
}

}  // namespace
}  // namespace berth::scenario
