#include "domain/profile/contradiction.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "domain/profile/readers.h"

namespace berth::profile {
namespace {

struct RowCase {
  int batch = 1;
  int processes = 1;
  std::string rate;     ///< of the slice
  std::string latency;  ///< ms
};

PerformancePoint point_of(const RowCase& row) {
  return {.gpu = "A30-24GB",
          .profile = "1g.6gb",
          .batch = row.batch,
          .processes = row.processes,
          .requests_per_second = *Decimal::parse(row.rate),
          .latency_ms = *Decimal::parse(row.latency)};
}

WrittenRow written(const RowCase& row, const PerformancePoint& point) {
  return {.model = "m",
          .point = point,
          .rate_digit = last_digit(row.rate),
          .latency_digit = last_digit(row.latency),
          .number = 7};
}

TEST(Contradiction, TheLastWrittenDigitCounts) {
  EXPECT_EQ(last_digit("53"), 0);
  EXPECT_EQ(last_digit("53."), 0);
  EXPECT_EQ(last_digit("0.50"), -2);
  EXPECT_EQ(last_digit("1e3"), 3);
  EXPECT_EQ(last_digit("1.5E3"), 2);
  EXPECT_EQ(last_digit("2.50e-3"), -5);
  EXPECT_EQ(last_digit("+4e+2"), 2);
}

TEST(Contradiction, BothFiguresAreWidenedByHalfOfTheirLastDigit) {
  const RowCase row{.batch = 4, .processes = 1, .rate = "53", .latency = "32.0"};
  const PerformancePoint point = point_of(row);
  const RatioRange range = ratio_range(written(row, point));
  EXPECT_EQ(range.min, Decimal(525, 10) * Decimal(3195, 100) / Decimal(4000));
  EXPECT_EQ(range.max, Decimal(535, 10) * Decimal(3205, 100) / Decimal(4000));
  // A rate for each process: the error of the slice's is that of all processes.
  WrittenRow each = written(row, point);
  PerformancePoint twice = point;
  twice.processes = 2;
  twice.requests_per_second = Decimal(106);
  const RatioRange of_two = ratio_range(
      {.model = "", .point = twice, .rate_digit = 0, .is_rate_per_process = true, .latency_digit = each.latency_digit});
  EXPECT_EQ(of_two.min, range.min);
  EXPECT_EQ(of_two.max, range.max);
}

TEST(Contradiction, BoundsAreIncludedAndExact) {
  struct Case {
    RowCase row;
    bool contradicts;
    bool is_excessive;
  };
  const std::vector<Case> cases = {
      {{.batch = 4, .processes = 1, .rate = "125", .latency = "32"}, false, false},
      {{.batch = 4, .processes = 1, .rate = "53", .latency = "32"}, true, false},
      {{.batch = 4, .processes = 1, .rate = "500", .latency = "32"}, true, true},
      // At least 105.45 x 9.95 / 1000 = 1.0492...
      {{.batch = 1, .processes = 1, .rate = "105.5", .latency = "10.0"}, false, false},
      {{.batch = 1, .processes = 1, .rate = "106.0", .latency = "10.0"}, true, true},
      {{.batch = 1, .processes = 1, .rate = "106", .latency = "10"}, false, false},
      // At least 1500 x 3.5 / 5000 = 1.05, at most 1500 x 2.5 / 5000 = 0.75.
      {{.batch = 5, .processes = 1, .rate = "2e3", .latency = "4"}, false, false},
      {{.batch = 5, .processes = 1, .rate = "1e3", .latency = "2"}, false, false},
      {{.batch = 2, .processes = 1, .rate = "74", .latency = "20"}, false, false},
      {{.batch = 2, .processes = 1, .rate = "73.0", .latency = "20.0"}, true, false},
      {{.batch = 2, .processes = 3, .rate = "225", .latency = "20.0"}, false, false},
      // Few digits: 1 ms is 0.5 to 1.5 ms.
      {{.batch = 1, .processes = 1, .rate = "2000", .latency = "1"}, false, false},
      {{.batch = 1, .processes = 1, .rate = "2000", .latency = "1.0"}, true, true},
      {{.batch = 65'536, .processes = 1024, .rate = "1", .latency = "1"}, true, false},
      {{.batch = 1, .processes = 1, .rate = "1e9", .latency = "1e9"}, true, true},
  };
  for (const Case& each : cases) {
    const PerformancePoint point = point_of(each.row);
    Contradictions found;
    found.add(written(each.row, point));
    EXPECT_EQ(!found.empty(), each.contradicts) << each.row.rate << " x " << each.row.latency;
    EXPECT_EQ(found.excessive().has_value(), each.is_excessive) << each.row.rate << " x " << each.row.latency;
    EXPECT_EQ(states_too_much(written(each.row, point)), each.is_excessive) << each.row.rate;
  }
}

TEST(Contradiction, OneTextCountsTheRowsAndNamesTheWorst) {
  Contradictions found;
  std::size_t number = 1;
  for (const char* rate : {"125", "20", "30", "140", "999"}) {
    const RowCase row{.batch = 4, .processes = 2, .rate = rate, .latency = "64"};
    const PerformancePoint point = point_of(row);
    WrittenRow each = written(row, point);
    each.number = ++number;
    found.add(each);
  }
  EXPECT_EQ(found.text("line "),
            "the columns of 4 of 5 rows contradict each other: rate x latency / (batch x processes) is outside 0.75 to "
            "1.05; the worst, line 6 (A30-24GB, 1g.6gb), has 7.99: 999 requests per second, where 2 processes with "
            "batches of 4 in 64 ms serve 125");
  ASSERT_TRUE(found.excessive());
  EXPECT_EQ(found.excessive()->number, 6U);
  EXPECT_EQ(found.excessive()->wanted,
            "at most 131.25 requests per second of the slice (1.05 x batch x processes / latency)");
  EXPECT_EQ(found.excessive()->found, "999");
}

TEST(Contradiction, ATableCountsEachNumberInItsShortestForm) {
  PerformanceTable table{.model = "m", .points = {}};
  table.points.push_back(point_of({.batch = 1, .processes = 1, .rate = "106.0", .latency = "10.0"}));
  EXPECT_TRUE(contradictions_of(table).empty());
  table.points.push_back(point_of({.batch = 4, .processes = 1, .rate = "53", .latency = "32"}));
  const Contradictions found = contradictions_of(table);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.text("row ").find("the worst, row 2 (") != std::string::npos) << found.text("row ");
}

TEST(Contradiction, ReadersPassOnWhatIsWritten) {
  std::vector<std::string> seen;
  const RowObserver observe = [&](const WrittenRow& row) {
    seen.push_back(std::string(row.model) + " " + std::to_string(row.rate_digit) + " " +
                   std::to_string(row.latency_digit) + " " + std::to_string(row.number) + ":" +
                   std::to_string(row.rate_place.column) + (row.is_rate_per_process ? " each" : ""));
  };
  ASSERT_TRUE(read_parvagpu(
      "Mig instance,Batch size,Workload Number,Throughput,Latency\n7,1,2,60.25,0.020\n1,1,1,0,0\n", "p.csv", observe));
  const ProfileResolver resolve = [](std::string_view gpu, std::string_view profile) {
    return ResolvedProfile{std::string(gpu), std::string(profile)};
  };
  ASSERT_TRUE(
      read_profile_csv("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                       "m,A,p,1,1,1.0,1000\nother,A,p,1,1,1,1e3\n",
                       "p.csv", "m", resolve, observe));
  EXPECT_EQ(seen, (std::vector<std::string>{" -2 0 2:7 each", "m -1 0 2:11", "other 0 3 3:15"}));
}

std::vector<std::filesystem::path> parvagpu_files() {
  std::vector<std::filesystem::path> paths;
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "parvagpu/prof_data")) {
    if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  }
  return paths;
}

TEST(Contradiction, ParvagpusTablesHaveNone) {
  const auto paths = parvagpu_files();
  if (paths.empty()) GTEST_SKIP() << "BERTH_DATA is not set: the tables of ParvaGPU are not here";
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    Contradictions found;
    ASSERT_TRUE(read_parvagpu(text, path.string(), [&](const WrittenRow& row) { found.add(row); }));
    EXPECT_TRUE(found.empty()) << path << ": " << found.text("line ");
  }
}

}  // namespace
}  // namespace berth::profile
