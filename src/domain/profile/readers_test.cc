#include "domain/profile/readers.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::profile {
namespace {

constexpr const char* kParvaHeader = "Mig instance,Batch size,Workload Number,Throughput,Latency\n";
constexpr const char* kCsvHeader = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";
constexpr const char* kMisoHeader = "model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\n";

/// Knows the GPU "Alpha", also as "A", and its profile "1g.1gb".
tl::expected<ResolvedProfile, UnresolvedProfile> resolve(std::string_view gpu, std::string_view profile) {
  if (gpu != "Alpha" && gpu != "A") return tl::unexpected(UnresolvedProfile{true, "no GPU"});
  if (profile != "1g.1gb") return tl::unexpected(UnresolvedProfile{false, "no profile"});
  return ResolvedProfile{"Alpha", "1g.1gb"};
}

Result<PerformanceTable> read_csv(const std::string& rows) {
  return read_profile_csv(kCsvHeader + rows, "p.csv", "m", resolve);
}

struct BadCase {
  std::string text;
  std::string message;
};

TEST(Parvagpu, ThroughputIsPerProcessAndLatencyInSeconds) {
  const auto table =
      read_parvagpu(std::string(kParvaHeader) + "3,8,2,100.5,0.012\n1,1,1,0,0\n1,4,1,7,0.5\n\n \n", "p.csv");
  ASSERT_TRUE(table.has_value());
  const std::vector<PerformancePoint> expected = {{"A100-80GB", "1g.10gb", 4, 1, Decimal(7), Decimal(500)},
                                                  {"A100-80GB", "3g.40gb", 8, 2, Decimal(201), Decimal(12)}};
  EXPECT_EQ(table->points, expected);
}

TEST(Parvagpu, MarkAndCarriageReturnsAreFine) {
  const auto table =
      read_parvagpu("\xEF\xBB\xBFMig instance,Batch size,Workload Number,Throughput,Latency\r\n7,1,1,1,1\r\n", "p.csv");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->points[0].profile, "7g.80gb");
}

TEST(Parvagpu, MalformedFilesSayWhereAndWhat) {
  const std::string head = kParvaHeader;
  const std::vector<BadCase> cases = {
      {"",
       "p.csv:1:1: wanted the header \"Mig instance,Batch size,Workload Number,Throughput,Latency\", found nothing"},
      {"a,b\n",
       "p.csv:1:1: wanted the header \"Mig instance,Batch size,Workload Number,Throughput,Latency\", found \"a,b\""},
      {head + "5,1,1,1,1\n", "p.csv:2:1: Mig instance: wanted 1, 2, 3, 4 or 7, found \"5\""},
      {head + "1,0,1,1,1\n", "p.csv:2:3: Batch size: wanted a whole number from 1 to 65536, found \"0\""},
      {head + "1,1,x,1,1\n", "p.csv:2:5: Workload Number: wanted a whole number from 1 to 1024, found \"x\""},
      {head + "1,1,1,-1,1\n", "p.csv:2:7: Throughput: wanted a number from 0 to 1000000000, found \"-1\""},
      {head + "1,1,1,1,nan\n", "p.csv:2:9: Latency: wanted a number from 0 to 1000000, found \"nan\""},
      {head + "1,1,1,1,\n", "p.csv:2:9: Latency: wanted a number from 0 to 1000000, found nothing"},
      {head + "1,1,1,1,0\n",
       "p.csv:2:9: Latency: wanted a number above 0 (both are 0 where nothing was measured), found \"0\""},
      {head + "1,1,1,0.0,1\n",
       "p.csv:2:7: Throughput: wanted a number above 0 (both are 0 where nothing was measured), found \"0.0\""},
      {head + "1,1,1,1\n", "p.csv:2:1: wanted 5 fields, found 4"},
      {head + "1,1,1,1,1,1\n", "p.csv:2:1: wanted 5 fields, found more"},
      {head + "1,1,1,1,1\n\n1,2,1,1,1\n", "p.csv:3:1: wanted a row, found a blank line"},
      {head + "1,1,1,1,1\n01,1,1,0,0\n",
       "p.csv:3:1: a second row of the same instance, batch size and number of workloads"},
      {head + "1,1,1,0,0\n", "p.csv:1:1: wanted at least one measurement, found none"},
      {head + "1,1,1,1,\xff\n", "p.csv:2:9: wanted text in UTF-8, found the byte 0xff"},
      {head + "1,1,1,1," + std::string(50, '9') + "\n",
       "p.csv:2:9: Latency: wanted a number from 0 to 1000000, found \"" + std::string(48, '9') + "...\""},
  };
  for (const BadCase& bad : cases) {
    const auto table = read_parvagpu(bad.text, "p.csv");
    ASSERT_FALSE(table.has_value()) << bad.message;
    EXPECT_EQ(table.error().message, bad.message);
  }
}

TEST(ProfileCsv, GivesTheRowsOfTheModelWithFullNamesSorted) {
  const auto table = read_csv("m,A,1g.1gb,8,2,10,1.5\nother,Alpha,1g.1gb,1,1,1,1\nm,Alpha,1g.1gb,16,1,20,2\n");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  const std::vector<PerformancePoint> expected = {{"Alpha", "1g.1gb", 16, 1, Decimal(20), Decimal(2)},
                                                  {"Alpha", "1g.1gb", 8, 2, Decimal(10), Decimal(3, 2)}};
  EXPECT_EQ(table->model, "m");
  EXPECT_EQ(table->points, expected);
}

TEST(ProfileCsv, EveryColumnOfEveryRowIsChecked) {
  const std::string good = "m,Alpha,1g.1gb,1,1,1,1\n";
  const std::vector<BadCase> cases = {
      {"", "p.csv: wanted rows of the model \"m\", found none"},
      {"other,Alpha,1g.1gb,1,1,1,1\n", "p.csv: wanted rows of the model \"m\", found none"},
      {good + ",Alpha,1g.1gb,1,1,1,1\n", "p.csv:3:1: model: wanted 1 to 200 bytes, found nothing"},
      {good + "other,Beta,1g.1gb,1,1,1,1\n", "p.csv:3:7: gpu: no GPU"},
      {good + "other,Alpha,2g,1,1,1,1\n", "p.csv:3:13: profile: no profile"},
      {good + "other,Alpha,1g.1gb,1.5,1,1,1\n",
       "p.csv:3:20: batch: wanted a whole number from 1 to 65536, found \"1.5\""},
      {good + "other,Alpha,1g.1gb,1,-1,1,1\n",
       "p.csv:3:22: processes: wanted a whole number from 1 to 1024, found \"-1\""},
      {good + "other,Alpha,1g.1gb,1,1,0,1\n",
       "p.csv:3:24: requests_per_second: wanted a number above 0, at most 1000000000, found \"0\""},
      {good + "other,Alpha,1g.1gb,1,1,1,1e30\n",
       "p.csv:3:26: latency_ms: wanted a number above 0, at most 1000000000, found \"1e30\""},
      {good + "m,A,1g.1gb,1,1,2,2\n", "p.csv:3:1: a second row of model \"m\", Alpha, 1g.1gb, batch 1, processes 1"},
      {"m,Alpha,\"1g.1gb,1,1,2,2\n", "p.csv:2:9: wanted a closing quote, found the end of the line"},
  };
  for (const BadCase& bad : cases) {
    const auto table = read_csv(bad.text);
    ASSERT_FALSE(table.has_value()) << bad.message;
    EXPECT_EQ(table.error().message, bad.message);
  }
}

TEST(ProfileCsv, GivesEveryModelOfAFileSorted) {
  const auto tables = read_profile_csv_models(
      std::string(kCsvHeader) + "m,A,1g.1gb,8,2,10,1.5\nk,Alpha,1g.1gb,1,1,1,1\nm,Alpha,1g.1gb,16,1,20,2\n", "p.csv",
      resolve);
  ASSERT_TRUE(tables.has_value()) << tables.error().message;
  const std::vector<PerformanceTable> expected = {
      {"k", {{"Alpha", "1g.1gb", 1, 1, Decimal(1), Decimal(1)}}},
      {"m",
       {{"Alpha", "1g.1gb", 16, 1, Decimal(20), Decimal(2)}, {"Alpha", "1g.1gb", 8, 2, Decimal(10), Decimal(3, 2)}}}};
  EXPECT_EQ(*tables, expected);
  EXPECT_TRUE(read_profile_csv_models(kCsvHeader, "p.csv", resolve)->empty());
  const auto bad = read_profile_csv_models(std::string(kCsvHeader) + "m,A,2g,8,2,10,1.5\n", "p.csv", resolve);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "p.csv:2:5: profile: no profile");
}

TEST(Miso, GivesMeansByComputeSlices) {
  const auto means = read_miso(std::string(kMisoHeader) +
                                   "bert,2,2g.10gb,0.1,0.25,9\nbert,2,7g.40gb,0.1,0.125,9\n"
                                   "bert,4,1g.5gb,0.1,0.5,9\n",
                               "miso.csv", {"bert", 2});
  ASSERT_TRUE(means.has_value());
  EXPECT_EQ(*means, (std::map<int, Decimal>{{2, Decimal(1, 4)}, {7, Decimal(1, 8)}}));
}

TEST(Miso, MalformedFilesSayWhereAndWhat) {
  const std::string good = "bert,2,7g.40gb,0.1,0.1,9\n";
  const std::vector<BadCase> cases = {
      {"other,2,7g.40gb,0.1,0.1,9\n", "miso.csv: wanted rows of the model \"bert\" at batch 2, found none"},
      {good + "x,2,5g.40gb,0.1,0.1,9\n", "miso.csv:3:5: mig_slice: wanted a slice such as 3g.20gb, found \"5g.40gb\""},
      {good + "x,2,full,0.1,0.1,9\n", "miso.csv:3:5: mig_slice: wanted a slice such as 3g.20gb, found \"full\""},
      {good + "x,2,1g.5gb,,0.1,9\n",
       "miso.csv:3:12: median_s_per_iter: wanted a number above 0, at most 1000000, found nothing"},
      {good + "x,2,1g.5gb,1,0,9\n",
       "miso.csv:3:14: mean_s_per_iter: wanted a number above 0, at most 1000000, found \"0\""},
      {good + "x,2,1g.5gb,1,1,0\n", "miso.csv:3:16: n_iters: wanted a whole number from 1 to 2000000000, found \"0\""},
      {good + good, "miso.csv:3:1: a second row of model \"bert\", batch 2, 7 compute slices"},
  };
  for (const BadCase& bad : cases) {
    const auto means = read_miso(kMisoHeader + bad.text, "miso.csv", {"bert", 2});
    ASSERT_FALSE(means.has_value()) << bad.message;
    EXPECT_EQ(means.error().message, bad.message);
  }
}

}  // namespace
}  // namespace berth::profile
