#include "domain/profile_book/exported.h"

#include <gtest/gtest.h>

#include <string>

#include "domain/profile_book/imported.h"
#include "domain/profile_book/point_text.h"

namespace berth::profile_book {
namespace {

constexpr const char* kCsvHeader = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";

tl::expected<profile::ResolvedProfile, profile::UnresolvedProfile> as_written(std::string_view gpu,
                                                                              std::string_view profile) {
  return profile::ResolvedProfile{std::string(gpu), std::string(profile)};
}

std::vector<ProfileRun> import_runs(const std::string& text, const std::string& file) {
  const auto imported = import_profiles(text, {.file = file, .started_us = 5, .berth_version = "1"}, as_written);
  EXPECT_TRUE(imported.has_value()) << imported.error().message;
  std::vector<ProfileRun> runs = imported->runs;
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = static_cast<std::int64_t>(i) + 1;
  return runs;
}

std::string export_of(const std::vector<ProfileRun>& runs) {
  return export_profiles(points_in_force(runs, {}), {}).value().csv;
}

TEST(DecimalText, KeepsTheDigits) {
  EXPECT_EQ(decimal_text(Decimal(5, 2), -2), "2.50");
  EXPECT_EQ(decimal_text(Decimal(5, 2), -1), "2.5");
  EXPECT_EQ(decimal_text(Decimal(5), -1), "5.0");
  EXPECT_EQ(decimal_text(Decimal(5), 0), "5");
  EXPECT_EQ(decimal_text(Decimal(5000), 2), "5000");
}

TEST(Exported, HasTheDecimalsOfItsImport) {
  const std::string text = std::string(kCsvHeader) +
                           "\"a,b\",A30-24GB,1g.6gb,1,1,10.50,1e2\n"
                           "m,A30-24GB,1g.6gb,1,1,0.10,+4.\n"
                           "m,A30-24GB,1g.6gb,2,1,123456789.1234567890123,0.000000001\n"
                           "m,A30-24GB,1g.6gb,1,2,7,8.00\n"
                           "m,A30-24GB,full,1,1,100,1\n";
  EXPECT_EQ(export_of(import_runs(text, "x.csv")), text);
}

TEST(Exported, HasParvaGpusFiguresOfTheSlice) {
  const std::string text =
      "Mig instance,Batch size,Workload Number,Throughput,Latency\n"
      "1,1,1,196.760,0.005\n1,1,3,82.28,0.0120\n7,4,1,10,0.1\n2,1,1,0,0\n";
  EXPECT_EQ(export_of(import_runs(text, "data/resnet50.csv")), std::string(kCsvHeader) +
                                                                   "resnet50,A100-80GB,1g.10gb,1,1,196.760,5\n"
                                                                   "resnet50,A100-80GB,1g.10gb,1,3,246.84,12.0\n"
                                                                   "resnet50,A100-80GB,7g.80gb,4,1,10,100\n");
}

TEST(Exported, SaysWhatWasNotMeasuredOnTheGpuItself) {
  const std::string text = std::string(kCsvHeader) + "m,A30-24GB,1g.6gb,1,1,10,100\n";
  EXPECT_FALSE(export_profiles(points_in_force(import_runs(text, "x.csv"), {}), {})->is_elsewhere);
  EXPECT_TRUE(export_profiles(points_in_force(import_runs(text, "x.cpu.csv"), {}), {})->is_elsewhere);
  ProfileRun run{.id = 1, .label = "A30-24GB:1g.6gb", .model = {.name = "m"}, .machine = {.device = "A30"}};
  run.points = {{.rows_per_second = 10, .mean_us = 100}};
  run.machine.driver = "550";
  EXPECT_FALSE(export_profiles(points_in_force(std::vector{run}, {}), {})->is_elsewhere);
  run.machine.driver = "";
  EXPECT_TRUE(export_profiles(points_in_force(std::vector{run}, {}), {})->is_elsewhere);
}

TEST(Exported, CountsTheNewestMachineAsTheSlice) {
  ProfileRun run{.id = 1, .model = {.name = "m"}, .machine = {.device = "cpu", .processor = "P"}};
  run.points = {{.rows_per_second = 10000, .mean_us = 100}, {.batch = 2, .fits = false}};
  ProfileRun other = run;
  other.id = 2;
  other.machine.processor = "Q";
  other.points[0].mean_us = 125;
  const auto models = points_in_force(std::vector{run, other}, {});
  EXPECT_EQ(export_profiles(models, {}).error().message,
            "wanted points to export: \"m\" on \"cpu\": left out, as it has no GPU and profile: say what it counts as "
            "with --as");
  const auto exported = export_profiles(models, {.as = SliceName{"A30-24GB", "1g.6gb"}});
  ASSERT_TRUE(exported.has_value());
  EXPECT_EQ(exported->csv, std::string(kCsvHeader) + "m,A30-24GB,1g.6gb,1,1,10000.000000,0.125000\n");
  EXPECT_EQ(exported->notes,
            (std::vector<std::string>{"\"m\" on \"cpu\": left out, as run 2 of another machine is newer"}));
  EXPECT_EQ(export_profiles(models, {.model = "x"}).error().message, "wanted a model that was profiled, found \"x\"");
}

TEST(Exported, HasWhatWasObserved) {
  ProfileRun run{.id = 1, .label = "A30-24GB:1g.6gb", .model = {.name = "m"}, .machine = {.device = "d"}};
  run.points = {{.batch = 4, .rows_per_second = 10000, .mean_us = 100}};
  const ObservedSum sum{.url = "u", .times = {.model = "m", .device = "d", .batch = 4, .count = 200, .sum_us = 26'000}};
  EXPECT_EQ(export_profiles(points_in_force(std::vector{run}, std::vector{sum}), {})->csv,
            std::string(kCsvHeader) + "m,A30-24GB,1g.6gb,4,1,30769.230769,0.130000\n");
}

TEST(Imported, RefusesWhatTheReadersRefuse) {
  const auto error = [](const std::string& text) {
    return import_profiles(text, {.file = "x.csv"}, as_written).error().message;
  };
  EXPECT_EQ(error(kCsvHeader), "x.csv: wanted at least one row, found none");
  EXPECT_TRUE(error("").starts_with("x.csv:1:1: "));
  EXPECT_TRUE(error("Mig instance,x\n").starts_with("x.csv:1:"));
  EXPECT_EQ(error(std::string(kCsvHeader) + "m,A30-24GB,1g.6gb,0,1,1,1\n"),
            "x.csv:2:19: batch: wanted a whole number from 1 to 65536, found \"0\"");
}

}  // namespace
}  // namespace berth::profile_book
