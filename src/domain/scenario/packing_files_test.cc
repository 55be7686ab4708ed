#include "domain/scenario/packing_files.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace berth::scenario {
namespace {

Decimal decimal(const char* text) { return Decimal::parse(text).value(); }

/// Files in memory; a name with a slash is in a folder.
class FolderFiles : public Files {
 public:
  explicit FolderFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const auto found = files_.find(path);
    if (found == files_.end()) return fail(ErrorCode::kNotFound, path + ": cannot read: no such file");
    return found->second;
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& path) const override {
    if (path == "none") return fail(ErrorCode::kNotFound, path + ": cannot read: no such file");
    if (files_.contains(path)) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, unused] : files_) {
      if (name.starts_with(path + "/")) names.push_back(name.substr(path.size() + 1));
    }
    return names;
  }

 private:
  std::map<std::string, std::string> files_;
};

struct BadPackingFile {
  std::string text;
  std::string message;
};

TEST(Demands, AreReadInOrderExactly) {
  const auto demands = read_demands("model,requests_per_second,latency_ms\r\nb,1.10,50\r\na, 0 ,0.1\r\n\r\n", "d.csv");
  ASSERT_TRUE(demands.has_value()) << demands.error().message;
  const std::vector<Demand> expected = {{"b", "b", decimal("1.1"), Decimal(50)},
                                        {"a", "a", Decimal(0), decimal("0.1")}};
  EXPECT_EQ(*demands, expected);
}

TEST(Demands, TenantAndModelTogetherAreUnique) {
  const auto demands = read_demands("model,requests_per_second,latency_ms,tenant\nm,1,5,x\nm,2,5,y\nm,3,5,\n", "d.csv");
  ASSERT_TRUE(demands.has_value()) << demands.error().message;
  ASSERT_EQ(demands->size(), 3U);
  EXPECT_EQ((*demands)[1].tenant, "y");
  EXPECT_EQ((*demands)[2].tenant, "m");
}

TEST(Demands, HeaderAloneIsAnEmptyDemand) {
  EXPECT_TRUE(read_demands("model,requests_per_second,latency_ms\n", "d.csv")->empty());
  EXPECT_TRUE(read_demands("model,requests_per_second,latency_ms,tenant\n\n", "d.csv")->empty());
}

TEST(Demands, MalformedFilesSayWhereAndWhat) {
  const std::string head = "model,requests_per_second,latency_ms\n";
  const std::string with_tenant = "model,requests_per_second,latency_ms,tenant\n";
  const std::vector<BadPackingFile> cases = {
      {"", "d.csv:1:1: wanted the header \"model,requests_per_second,latency_ms\", found nothing"},
      {"m,1,2\n", "d.csv:1:1: wanted the header \"model,requests_per_second,latency_ms\", found \"m,1,2\""},
      {"m,1,2,t\n", "d.csv:1:1: wanted the header \"model,requests_per_second,latency_ms,tenant\", found \"m,1,2,t\""},
      {head + ",1,2\n", "d.csv:2:1: model: wanted 1 to 200 bytes, found nothing"},
      {head + "m,x,2\n", "d.csv:2:3: requests_per_second: wanted a number from 0, at most 10000000, found \"x\""},
      {head + "m,,2\n", "d.csv:2:3: requests_per_second: wanted a number from 0, at most 10000000, found nothing"},
      {head + "m,1e9,2\n", "d.csv:2:3: requests_per_second: wanted a number from 0, at most 10000000, found \"1e9\""},
      {head + "m,inf,2\n", "d.csv:2:3: requests_per_second: wanted a number from 0, at most 10000000, found \"inf\""},
      {head + "m,1,nan\n", "d.csv:2:5: latency_ms: wanted a number above 0, at most 1000000000, found \"nan\""},
      {head + "m,1,2,t\n", "d.csv:2:1: wanted 3 fields, found more"},
      {with_tenant + "m,1,2\n", "d.csv:2:1: wanted 4 fields, found 3"},
      {with_tenant + "m,1,2," + std::string(201, 't') + "\n",
       "d.csv:2:7: tenant: wanted at most 200 bytes, found \"" + std::string(48, 't') + "...\""},
      {head + "m,1,2\n\nn,1,2\n", "d.csv:3:1: wanted a row, found a blank line"},
  };
  for (const BadPackingFile& bad : cases) {
    const auto demands = read_demands(bad.text, "d.csv");
    ASSERT_FALSE(demands.has_value()) << bad.message;
    EXPECT_EQ(demands.error().message, bad.message);
  }
}

TEST(Demands, EveryFaultyRowIsNamedAtOnce) {
  const auto demands = read_demands(
      "model,requests_per_second,latency_ms,tenant\n"
      "a,1,5,\nb,-1,5,\nc,-0.50,0,t\na,2,5,a\nd,1,-3,\nb,1,5,\na,1,5,\n",
      "d.csv");
  ASSERT_FALSE(demands.has_value());
  EXPECT_EQ(demands.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(demands.error().message,
            "d.csv:3:1: wanted requests_per_second from 0, found -1 for \"b\" (line 3), -0.5 for \"c\" of tenant \"t\" "
            "(line 4); wanted latency_ms above 0, found 0 for \"c\" of tenant \"t\" (line 4), -3 for \"d\" (line 6); "
            "wanted each model of a tenant once, found \"a\" (lines 2 and 5), \"b\" (lines 3 and 7), \"a\" (lines 2 "
            "and 8)");
}

TEST(Offers, HaveCountsAndExactPrices) {
  const auto offers =
      read_offers("gpu,count,usd_per_gpu_hour\nA100-80GB,unlimited,1.890001\nA30,0,0\nT4,12,0.35\n", "f.csv");
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  ASSERT_EQ(offers->value.size(), 3U);
  EXPECT_EQ(offers->value[0].model.name, "A100-80GB");
  EXPECT_EQ(offers->value[0].count_max, std::nullopt);
  EXPECT_EQ(offers->value[0].micro_usd_per_hour, 1'890'001);
  EXPECT_EQ(offers->value[1].model.name, "A30-24GB");
  EXPECT_EQ(offers->value[1].count_max, 0);
  EXPECT_EQ(offers->value[1].micro_usd_per_hour, 0);
  EXPECT_EQ(offers->value[2].count_max, 12);
}

TEST(Offers, ANameOfTwoBoardsIsAWarning) {
  const auto offers = read_offers("gpu,count,usd_per_gpu_hour\nH100-80GB,1,2\nH200,1,3\n", "f.csv");
  ASSERT_TRUE(offers.has_value()) << offers.error().message;
  EXPECT_EQ(offers->value[0].model.name, "H100-80GB-SXM5");
  EXPECT_EQ(
      offers->warnings,
      std::vector<std::string>{"f.csv: \"H100-80GB\" is taken as H100-80GB-SXM5; the other board is H100-80GB-PCIe"});
}

TEST(Offers, MalformedFilesSayWhereAndWhat) {
  const std::string head = "gpu,count,usd_per_gpu_hour\n";
  const std::vector<BadPackingFile> cases = {
      {"", "f.csv:1:1: wanted the header \"gpu,count,usd_per_gpu_hour\", found nothing"},
      {head, "f.csv:1:1: wanted at least one GPU model, found none"},
      {head + "A30,1.5,1\n", "f.csv:2:5: count: wanted a whole number from 0 to 1000000, or unlimited, found \"1.5\""},
      {head + "A30,-1,1\n", "f.csv:2:5: count: wanted a whole number from 0 to 1000000, or unlimited, found \"-1\""},
      {head + "A30,,1\n", "f.csv:2:5: count: wanted a whole number from 0 to 1000000, or unlimited, found nothing"},
      {head + "A30,1,\n", "f.csv:2:7: usd_per_gpu_hour: wanted a number from 0 to 100000, found nothing"},
      {head + "A30,1,-2\n", "f.csv:2:7: usd_per_gpu_hour: wanted a number from 0 to 100000, found \"-2\""},
      {head + "A30,1,0.0000001\n",
       "f.csv:2:7: usd_per_gpu_hour: wanted at most six digits after the point, found \"0.0000001\""},
      {head + "A30,1,1\nA30-24GB,2,1\n", "f.csv:3:1: a second row of A30-24GB"},
  };
  for (const BadPackingFile& bad : cases) {
    const auto offers = read_offers(bad.text, "f.csv");
    ASSERT_FALSE(offers.has_value()) << bad.message;
    EXPECT_EQ(offers.error().message, bad.message);
  }
  EXPECT_TRUE(read_offers(head + "X1,1,1\n", "f.csv").error().message.starts_with("f.csv:2:1: gpu: wanted a GPU"));
}

constexpr const char* kParva = "Mig instance,Batch size,Workload Number,Throughput,Latency\n7,1,2,10,0.02\n";
constexpr const char* kCsv = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";

TEST(Tables, ParvagpuModelsAreStems) {
  const FolderFiles files({{"p/zeta.csv", kParva}, {"p/a.b.csv", kParva}, {"p/notes.md", "x"}, {"p/.hidden.csv", "x"}});
  const auto one = load_tables("p/zeta.csv", ProfileFormat::kParvagpu, files);
  ASSERT_TRUE(one.has_value()) << one.error().message;
  ASSERT_EQ(one->value.size(), 1U);
  EXPECT_EQ(one->value[0].model, "zeta");
  EXPECT_EQ(one->value[0].points.size(), 1U);
  const auto all = load_tables("p", ProfileFormat::kParvagpu, files);
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->value.size(), 2U);
  EXPECT_EQ(all->value[0].model, "a.b");
  EXPECT_EQ(all->value[1].model, "zeta");
}

TEST(Tables, CsvFilesHoldManyModels) {
  const FolderFiles files({{"p/1.csv", std::string(kCsv) + "m,A30,1g.6gb,1,1,10,20\nk,A30,full,1,1,10,20\n"},
                           {"p/2.csv", std::string(kCsv) + "l,T4,full,1,1,10,20\n"},
                           {"q/1.csv", std::string(kCsv) + "m,A30,1g.6gb,1,1,10,20\n"},
                           {"q/2.csv", std::string(kCsv) + "m,T4,full,1,1,10,20\n"}});
  const auto tables = load_tables("p", ProfileFormat::kCsv, files);
  ASSERT_TRUE(tables.has_value()) << tables.error().message;
  ASSERT_EQ(tables->value.size(), 3U);
  EXPECT_EQ(tables->value[0].model, "k");
  EXPECT_EQ(tables->value[1].model, "l");
  EXPECT_EQ(tables->value[2].model, "m");
  const auto twice = load_tables("q", ProfileFormat::kCsv, files);
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().message, "q/2.csv: wanted each model in one file only, found \"m\", which is in q/1.csv too");
}

TEST(Tables, RowsThatStateTooLittleAreAWarningForEachFile) {
  const FolderFiles files({{"p/1.csv", std::string(kCsv) + "m,A30,1g.6gb,4,1,53,32\nm,A30,full,1,1,50,20\n"},
                           {"p/2.csv", std::string(kCsv) + "l,A30,1g.6gb,4,1,53,32\nl,T4,full,8,2,100,80\n"}});
  const auto tables = load_tables("p", ProfileFormat::kCsv, files);
  ASSERT_TRUE(tables.has_value()) << tables.error().message;
  EXPECT_EQ(tables->warnings,
            (std::vector<std::string>{
                "p/1.csv: the columns of 1 of 2 rows contradict each other: rate x latency / (batch x processes) is "
                "outside 0.75 to 1.05; the worst, line 2 (A30-24GB, 1g.6gb), has 0.424: 53 requests per second, where "
                "1 process with batches of 4 in 32 ms serves 125",
                "p/2.csv: the columns of 2 of 2 rows contradict each other: rate x latency / (batch x processes) is "
                "outside 0.75 to 1.05; the worst, line 2 (A30-24GB, 1g.6gb), has 0.424: 53 requests per second, where "
                "1 process with batches of 4 in 32 ms serves 125"}));
}

TEST(Tables, RowsThatStateTooMuchAreAnError) {
  const FolderFiles files({{"p.csv", std::string(kCsv) + "m,A30,full,1,1,50,20\nk,A30,1g.6gb,4,1,500,32\n"},
                           {"v.csv", "Mig instance,Batch size,Workload Number,Throughput,Latency\n7,1,2,60,0.0200\n"}});
  EXPECT_EQ(load_tables("p.csv", ProfileFormat::kCsv, files).error().message,
            "p.csv:3:18: wanted at most 131.25 requests per second of the slice (1.05 x batch x processes / latency), "
            "found 500; the columns of 1 of 2 rows contradict each other: rate x latency / (batch x processes) is "
            "outside 0.75 to 1.05; the worst, line 3 (A30-24GB, 1g.6gb), has 4: 500 requests per second, where 1 "
            "process with batches of 4 in 32 ms serves 125");
  EXPECT_TRUE(load_tables("v.csv", ProfileFormat::kParvagpu, files)
                  .error()
                  .message.starts_with("v.csv:2:7: wanted at most 105 requests per second of the slice"));
}

TEST(Tables, WhatCannotBeReadIsReported) {
  const FolderFiles files({{"p/1.csv", "x"}, {"e/notes.md", ""}});
  EXPECT_EQ(load_tables("none", ProfileFormat::kCsv, files).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load_tables("e", ProfileFormat::kCsv, files).error().message,
            "e: wanted a folder with *.csv files, found none in it");
  EXPECT_TRUE(
      load_tables("p", ProfileFormat::kParvagpu, files).error().message.starts_with("p/1.csv:1:1: wanted the header"));
}

}  // namespace
}  // namespace berth::scenario
