#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tier/readers/read_csv.h"
#include "tier/readers/read_parvagpu.h"
#include "tier/readers/read_training.h"
#include "tier/readers/tier_source.h"

namespace berth::tier {
namespace {

using testing::HasSubstr;

std::vector<Tier> two_tiers() {
  return {{.name = "big", .usd_per_hour = Decimal(2)}, {.name = "small", .usd_per_hour = Decimal(1, 2)}};
}

Result<TierTable> csv(const std::string& rows, OtherTiers others = OtherTiers::kLeaveOut,
                      const std::string& header = "group,workload,tier,batch,processes,samples_per_second,latency_ms") {
  return read_csv(header + "\n" + rows, "f.csv", two_tiers(), others);
}

std::string csv_error(const std::string& rows, OtherTiers others = OtherTiers::kLeaveOut) {
  const auto table = csv(rows, others);
  return table ? "read" : table.error().message;
}

/// The workload on the tier of that name.
const std::vector<TierPoint>& points_on(const TierTable& table, std::size_t workload, std::string_view tier) {
  for (std::size_t i = 0; i < table.tiers.size(); ++i) {
    if (table.tiers[i].name == tier) return table.workloads[workload].points[i];
  }
  static const std::vector<TierPoint> none;
  ADD_FAILURE() << "no tier " << tier;
  return none;
}

TEST(ReadCsv, SortsTiersByPriceAndPointsByProcessesAndBatch) {
  const auto table = csv("m,w,big,4,1,10,2\nm,w,big,1,2,0.1,3\nm,w,big,1,1,8,1.5\nm,w,small,1,1,4,2\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->kind, TierKind::kServices);
  EXPECT_EQ(table->tiers[0].name, "small");
  const std::vector<TierPoint> wanted = {
      {.batch = 1, .processes = 1, .samples_per_second = Decimal(8), .latency_ms = Decimal(3, 2)},
      {.batch = 4, .processes = 1, .samples_per_second = Decimal(10), .latency_ms = Decimal(2)},
      {.batch = 1, .processes = 2, .samples_per_second = Decimal(1, 10), .latency_ms = Decimal(3)}};
  EXPECT_EQ(points_on(*table, 0, "big"), wanted);
}

TEST(ReadCsv, RowsWithoutLatencyAreJobs) {
  const auto table = csv("m,w,big,4,1,10,\nm,w,small,4,1,0,\nm,v,small,8,1,3,\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->kind, TierKind::kJobs);
  ASSERT_EQ(table->workloads.size(), 2U);
  EXPECT_TRUE(points_on(*table, 0, "small").empty()) << "a rate of 0 is no row";
  EXPECT_EQ(table->workloads[1].batch, 8);
  EXPECT_TRUE(csv("m,w,big,4,1,10\n", OtherTiers::kLeaveOut, "group,workload,tier,batch,processes,samples_per_second"));
}

TEST(ReadCsv, CountsRowsOfOtherTiersOrRefusesThem) {
  const auto table = csv("m,w,big,1,1,10,1\nm,w,huge,1,1,10,1\nm,w,huge,2,1,0,0\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->rows_left_out, 1);
  EXPECT_THAT(csv_error("m,w,big,1,1,10,1\nm,w,bog,1,1,10,1\n", OtherTiers::kRefuse),
              HasSubstr("f.csv:3:5: tier: wanted big, small, found \"bog\"; did you mean big?"));
}

TEST(ReadCsv, RefusesAWorkloadWithoutAPointWhereAsked) {
  const std::string rows = "m,w,big,1,1,10,1\nm,v,big,1,1,0,1\n";
  EXPECT_EQ(csv_error(rows), "read");
  EXPECT_THAT(csv_error(rows, OtherTiers::kRefuse), HasSubstr("f.csv:3:1: wanted a row with samples_per_second above"));
}

TEST(ReadCsv, RefusesRepeatedRows) {
  EXPECT_THAT(csv_error("m,w,big,1,1,10,1\nm,w,big,1,1,0,0\n"), HasSubstr("f.csv:3:1: wanted one row per workload"));
  EXPECT_EQ(csv_error("m,w,big,1,1,10,1\nm,w,big,1,2,10,1\nn,w,big,1,1,1,1\n"), "read");
  EXPECT_THAT(csv_error("m,w,big,1,1,10,\nm,w,big,2,1,11,\n"), HasSubstr("f.csv:3:1: wanted one row per workload"));
}

TEST(ReadCsv, RefusesALatencyOnlyInSomeRows) {
  EXPECT_THAT(csv_error("m,w,big,1,1,10,1\nm,w,big,2,1,11,\n"), HasSubstr("f.csv:3:"));
  EXPECT_THAT(csv_error("m,w,big,1,1,10,\nm,w,small,1,1,11,3\n"), HasSubstr("wanted no latency, as in line 2"));
}

TEST(ReadCsv, RefusesNumbersOutOfRange) {
  EXPECT_THAT(csv_error("m,w,big,0,1,10,1\n"), HasSubstr("f.csv:2:9: batch"));
  EXPECT_THAT(csv_error("m,w,big,1,0,10,1\n"), HasSubstr("processes"));
  EXPECT_THAT(csv_error("m,w,big,1,1,-10,1\n"), HasSubstr("samples_per_second"));
  EXPECT_THAT(csv_error("m,w,big,1,1,nan,1\n"), HasSubstr("samples_per_second"));
  EXPECT_THAT(csv_error("m,w,big,1,1,10,0\n"), HasSubstr("latency_ms"));
  EXPECT_THAT(csv_error(",w,big,1,1,10,0\n"), HasSubstr("group"));
}

TEST(ReadCsv, GraphFiguresAreOfTheWorkload) {
  const std::string header =
      "group,workload,tier,batch,processes,samples_per_second,latency_ms,flops,activation_bytes,parameters,"
      "weight_bytes";
  const auto table = csv("m,w,big,1,1,10,1,2e9,,5,20\n", OtherTiers::kLeaveOut, header);
  ASSERT_TRUE(table) << table.error().message;
  const GraphFigures& graph = table->workloads[0].graph;
  EXPECT_EQ(graph.flops, Decimal(2'000'000'000));
  EXPECT_FALSE(graph.activation_bytes);
  EXPECT_EQ(graph.weight_bytes, Decimal(20));
  const auto other = csv("m,w,big,1,1,10,1,2,,5,20\nm,w,big,2,1,10,1,3,,5,20\n", OtherTiers::kLeaveOut, header);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("f.csv:3:1: wanted the same flops"));
}

std::vector<Tier> of_names(std::initializer_list<const char*> names) {
  std::vector<Tier> tiers;
  for (const char* name : names) {
    tiers.push_back({.name = name, .usd_per_hour = Decimal(static_cast<std::int64_t>(tiers.size()) + 1)});
  }
  return tiers;
}

TEST(ReadGavel, ReadsEntriesAloneOfScaleFactorOne) {
  const auto table = read_gavel(
      R"json({"a": {"('M (batch size 16)', 1)": {"null": 2.5, "('M', 1)": [1, 2]},
                    "('M (batch size 16)', 2)": {"null": 9}, "('A3C', 1)": {"null": 0.0}},
              "b": {"('A3C', 1)": {"null": 3}, "(\"it's\", 1)": {"null": 1}},
              "c": {"('A3C', 1)": {"null": 3}}})json",
      "g.json", of_names({"a", "b"}));
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->workloads.size(), 3U);
  EXPECT_EQ(table->workloads[0].group, "M");
  EXPECT_EQ(table->workloads[0].name, "batch 16");
  EXPECT_EQ(points_on(*table, 0, "a").at(0).samples_per_second, Decimal(40));
  EXPECT_EQ(table->workloads[1].group, "A3C");
  EXPECT_EQ(table->workloads[1].batch, 1);
  EXPECT_TRUE(points_on(*table, 1, "a").empty());
  EXPECT_EQ(table->workloads[2].group, "it's");
  EXPECT_EQ(table->rows_left_out, 1);
}

TEST(ReadGavel, RefusesWhatIsNotInItsFormat) {
  const auto error = [](const std::string& text) {
    const auto table = read_gavel(text, "g.json", of_names({"a"}));
    return table ? "read" : table.error().message;
  };
  EXPECT_THAT(error("{"), HasSubstr("g.json:1:"));
  EXPECT_THAT(error("[]"), HasSubstr("g.json:1:1: wanted an object of tiers"));
  EXPECT_THAT(error(R"json({"a": 1})json"), HasSubstr("\"a\": wanted an object of jobs"));
  EXPECT_THAT(error(R"json({"a": {"M": {"null": 1}}})json"), HasSubstr("wanted a key such as"));
  EXPECT_THAT(error(R"json({"a": {"('M (batch size x)', 1)": {"null": 1}}})json"), HasSubstr("wanted a job such as"));
  EXPECT_THAT(error(R"json({"a": {"('M (batch size 0)', 1)": {"null": 1}}})json"), HasSubstr("wanted a job such as"));
  EXPECT_THAT(error(R"json({"a": {"('M', 1)": {}}})json"), HasSubstr("wanted the key null"));
  EXPECT_THAT(error(R"json({"a": {"('M', 1)": {"null": -1}}})json"), HasSubstr("found \"-1\""));
  EXPECT_THAT(error(R"json({"a": {"('M', 1)": {"null": "1"}}})json"), HasSubstr("found another value"));
  EXPECT_THAT(error(R"json({"a": {"('M', 1)": {"null": 1}, "('M (batch size 1)', 1)": {"null": 1}}})json"),
              HasSubstr("wanted one entry per job and tier"));
}

TEST(ReadMiso, TakesTheMedianByTheFirstTwoCharactersOfTheSlice) {
  const auto table = read_miso(
      "model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\n"
      "bert,2,3g.20gb,0.25,9,1\nbert,2,7g.40gb,0,9,1\nbert,4,7g.40gb,0.5,9,1\nbert,4,1g.5gb,1,9,1\n",
      "m.csv", of_names({"3g", "7g"}));
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->workloads.size(), 2U);
  EXPECT_EQ(points_on(*table, 0, "3g").at(0).samples_per_second, Decimal(8));
  EXPECT_TRUE(points_on(*table, 0, "7g").empty());
  EXPECT_EQ(table->rows_left_out, 1);
  const auto twice = read_miso("model,batch,mig_slice,median_s_per_iter\nbert,2,3g.20gb,1\nbert,2,3g.40gb,1\n", "m.csv",
                               of_names({"3g"}));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("m.csv:3:1: wanted one row per model, batch and slice"));
}

/// A file of Sia's with one row per batch, a second per step.
SiaFile sia_file(const std::string& tier, const std::vector<int>& batches) {
  std::string text = "local_bsz,step_time,sync_time,placement\n7,1,1,2\n";
  for (const int batch : batches) text += std::to_string(batch) + ",1,0.1,1\n";
  return {.app = "app", .tier = tier, .file = tier + ".csv", .text = text};
}

TEST(ReadSia, AWorkloadHasTheNearestBatchOfEachTier) {
  const auto table =
      read_sia({sia_file("a", {1024}), sia_file("b", {1025}), sia_file("c", {1100, 1200})}, of_names({"a", "b", "c"}));
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->workloads.size(), 4U);
  EXPECT_EQ(table->workloads[0].name, "batch 1024");
  EXPECT_EQ(points_on(*table, 0, "b").at(0).batch, 1025);
  EXPECT_EQ(points_on(*table, 0, "b").at(0).samples_per_second, Decimal(1025)) << "at the batch that was measured";
  EXPECT_EQ(points_on(*table, 0, "c").at(0).batch, 1100);
  EXPECT_EQ(points_on(*table, 2, "a").at(0).batch, 1024);
  EXPECT_TRUE(points_on(*table, 3, "a").empty()) << "1200 / 1025 is above e^0.09";
}

TEST(ReadSia, TheSmallerOfTwoAtTheSameDistanceAndTheLimitIsExclusive) {
  // 96 / 100 = 100 / 104.17; 90 and 100 around 95 are no tie, but 100 and 121 around 110 are, and too far; 225 x 256 =
  // 240^2 is one within the limit.
  const auto table = read_sia({sia_file("a", {240, 110}), sia_file("b", {256, 225, 100, 121})}, of_names({"a", "b"}));
  ASSERT_TRUE(table) << table.error().message;
  const auto of_batch = [&](int batch) {
    for (std::size_t i = 0; i < table->workloads.size(); ++i) {
      if (table->workloads[i].batch == batch) return i;
    }
    return table->workloads.size();
  };
  EXPECT_EQ(points_on(*table, of_batch(240), "b").at(0).batch, 225);
  EXPECT_TRUE(points_on(*table, of_batch(110), "b").empty());
  const auto limit = read_sia({sia_file("a", {1'000'000'000, 100'000'000}), sia_file("b", {913'931'186, 109'417'429})},
                              of_names({"a", "b"}));
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->workloads[0].points[1].size(), 0U) << "1.09417429 is above e^0.09 = 1.09417428...";
  EXPECT_EQ(limit->workloads[3].points[1].size(), 1U) << "1 / 0.913931186 = 1.09417428... is below";
}

TEST(ReadSia, RefusesARepeatedBatch) {
  const auto table = read_sia({sia_file("a", {4, 4})}, of_names({"a"}));
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("a.csv:4:1: wanted one row of placement 1 per local_bsz"));
}

TEST(ReadParvagpu, TakesRatesOfTheWholeSliceAndAtMostThreeProcesses) {
  const std::string header = "Mig instance,Batch size,Workload Number,Throughput,Latency\n";
  const auto table =
      read_parvagpu({{.model = "bert",
                      .file = "bert.csv",
                      .text = header + "1,1,1,10,0.1\n1,1,3,8,0.2\n1,1,4,7,0.3\n1,1,2,0,0\n2,1,1,1,1\n"}},
                    of_names({"1g"}));
  ASSERT_TRUE(table) << table.error().message;
  const std::vector<TierPoint> wanted = {
      {.batch = 1, .processes = 1, .samples_per_second = Decimal(10), .latency_ms = Decimal(100)},
      {.batch = 1, .processes = 3, .samples_per_second = Decimal(24), .latency_ms = Decimal(200)}};
  EXPECT_EQ(points_on(*table, 0, "1g"), wanted);
  EXPECT_EQ(table->rows_left_out, 1);
  const auto half = read_parvagpu({{.model = "b", .file = "b.csv", .text = header + "1,1,1,10,0\n"}}, of_names({"1g"}));
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().message, HasSubstr("b.csv:2:10: Latency: wanted a number above 0"));
}

TEST(TierSource, NamesAreReadBack) {
  for (const TierSource source : kTierSources) EXPECT_EQ(source_named(name_of(source)), source);
  EXPECT_FALSE(source_named("philly"));
}

TEST(TierSource, TheReferenceIs7gOrTheMostExpensive) {
  TierTable table{.tiers = of_names({"7g", "8g"})};
  EXPECT_EQ(reference_tier(TierSource::kParvagpu, table), 0U);
  EXPECT_EQ(reference_tier(TierSource::kCsv, table), 1U);
  table.tiers = of_names({"8g"});
  EXPECT_FALSE(reference_tier(TierSource::kParvagpu, table));
}

}  // namespace
}  // namespace berth::tier
