#include "planner/packing/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "domain/profile/readers.h"
#include "domain/values/scenario.h"
#include "planner/packing/find_fault.h"
#include "planner/packing/testing/limited_fleets.h"

namespace berth::packing {
namespace {

using ::testing::HasSubstr;

Decimal number(std::string_view text) { return Decimal::parse(text).value(); }

/// A row of a table: profile, requests per second, latency in ms.
struct Row {
  const char* profile;
  const char* rate;
  const char* latency_ms;
  int batch = 1;
  int processes = 1;
};

PerformanceTable table_of(const std::string& model, const std::string& gpu, const std::vector<Row>& rows) {
  PerformanceTable table{.model = model, .points = {}};
  for (const Row& row : rows) {
    table.points.push_back({gpu, row.profile, row.batch, row.processes, number(row.rate), number(row.latency_ms)});
  }
  return table;
}

Demand demand_of(const std::string& model, std::string_view rate, std::string_view latency_ms,
                 const std::string& tenant = "") {
  return {model, tenant.empty() ? model : tenant, number(rate), number(latency_ms)};
}

GpuOffer offer_of(const char* gpu, std::optional<std::int64_t> count_max = {},
                  std::optional<std::int64_t> micro_usd = {}) {
  return {mig::find_gpu_model(gpu).value(), count_max, micro_usd};
}

PackResult packed(const PackingProblem& problem) {
  Result<PackResult> result = pack(problem, {});
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  if (!result) return {};
  EXPECT_EQ(find_fault(problem, result->packing), std::nullopt);
  return *result;
}

std::string error_of(const PackingProblem& problem) {
  const Result<PackResult> result = pack(problem, {});
  return result ? "no error" : result.error().message;
}

PackingProblem one_model(std::string_view rate, std::string_view latency_ms, const std::vector<Row>& rows) {
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB")};
  problem.demands = {demand_of("m", rate, latency_ms)};
  problem.tables = {table_of("m", "A100-80GB", rows)};
  return problem;
}

TEST(Pack, NothingWantedIsNoGpu) {
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB")};
  const PackResult none = packed(problem);
  EXPECT_EQ(none.score.gpus, 0);
  EXPECT_EQ(none.bound, 0);
  EXPECT_TRUE(none.is_proven);
  // A rate of 0 needs nothing, not even a profile.
  problem.demands = {demand_of("unknown", "0", "10")};
  EXPECT_TRUE(packed(problem).is_proven);
  EXPECT_TRUE(packed(problem).packing.slices.empty());
}

TEST(Pack, APointIsUsableStrictlyBelowItsShareOfTheTarget) {
  // 0.45 x 20 ms = 9 ms: a latency of 9 is a tie that doubles decide by chance.
  EXPECT_THAT(error_of(one_model("1", "20", {{"1g.10gb", "100", "9"}})), HasSubstr("\"m\""));
  EXPECT_EQ(packed(one_model("1", "20", {{"1g.10gb", "100", "8.999"}})).score.gpus, 1);
  EXPECT_THAT(error_of(one_model("1", "0.7", {{"1g.10gb", "100", "0.315"}})), HasSubstr("\"m\""));
  EXPECT_EQ(packed(one_model("1", "0.7000001", {{"1g.10gb", "100", "0.315"}})).score.gpus, 1);
}

TEST(Pack, ARateThatIsExactlyMetIsMet) {
  const std::vector<Row> rows = {{"1g.10gb", "0.1", "1"}};
  EXPECT_EQ(packed(one_model("0.7", "100", rows)).score.gpus, 1);
  EXPECT_EQ(packed(one_model("0.70000000001", "100", rows)).score.gpus, 2);
  PackingProblem problem = one_model("0.5", "100", rows);
  problem.rules.headroom = number("1.4");
  EXPECT_EQ(packed(problem).score.gpus, 1);
}

TEST(Pack, ALargerSliceMayBeSlower) {
  const PackResult result =
      packed(one_model("300", "100", {{"1g.10gb", "100", "1"}, {"3g.40gb", "90", "1"}, {"7g.80gb", "150", "1"}}));
  EXPECT_EQ(result.score.gpus, 1);
  EXPECT_EQ(result.score.slices, 3);
}

TEST(Pack, TheBestPointIsTaken) {
  PackingProblem problem = one_model("500", "100",
                                     {{"1g.10gb", "90", "1", 1, 1},
                                      {"1g.10gb", "500", "44", 8, 2},
                                      {"1g.10gb", "500", "44.9", 4, 3},
                                      {"1g.10gb", "900", "1", 1, 4}});
  const PackResult result = packed(problem);
  ASSERT_EQ(result.packing.slices.size(), 1U);
  EXPECT_EQ(result.packing.slices[0].batch, 4) << "of equal throughput the smaller batch";
  problem.rules.processes_max = 4;
  EXPECT_EQ(packed(problem).packing.slices[0].processes, 4);
}

TEST(Pack, TheLargestSliceStaysFreeThenFewestSlices) {
  // One 2g and one 1g: 3g or 4g may stay free, depending on their places.
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB")};
  problem.demands = {demand_of("a", "10", "100"), demand_of("b", "5", "100")};
  problem.tables = {table_of("a", "A100-80GB", {{"2g.20gb", "10", "1"}, {"1g.10gb", "5", "1"}}),
                    table_of("b", "A100-80GB", {{"1g.10gb", "5", "1"}})};
  const PackResult result = packed(problem);
  EXPECT_EQ(result.score.gpus, 1);
  EXPECT_EQ(result.score.slices, 2);
  ASSERT_TRUE(result.score.largest_free);
  const GpuModel& gpu = problem.offers[0].model;
  EXPECT_EQ(profile_name(gpu, result.score.largest_free->profile), "4g.40gb");
  EXPECT_TRUE(result.is_largest_free_proven);
  EXPECT_TRUE(result.is_slice_count_proven);
}

TEST(Pack, TroublesAreAllNamedAtOnce) {
  PackingProblem problem = one_model("1", "1", {{"1g.10gb", "100", "9"}});
  problem.demands.push_back(demand_of("x", "1", "1"));
  problem.demands.push_back(demand_of("m", "1", "2", "other"));
  problem.demands.push_back(demand_of("zero", "0", "2"));
  const std::string error = error_of(problem);
  EXPECT_THAT(error, HasSubstr("\"x\""));
  EXPECT_THAT(error, HasSubstr("\"m\", \"m\" of \"other\""));
  EXPECT_THAT(error, Not(HasSubstr("zero")));
}

TEST(Pack, TheCheapestMixOfGpus) {
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB", {}, 3'000'000), offer_of("T4", 2, 400'000)};
  problem.demands = {demand_of("m", "25", "100")};
  problem.tables = {table_of("m", "A100-80GB", {{"7g.80gb", "100", "1"}, {"1g.10gb", "10", "1"}})};
  for (const PerformancePoint& point : table_of("m", "T4-16GB", {{"full", "10", "1"}}).points) {
    problem.tables[0].points.push_back(point);
  }
  // Two T4 serve 20; the rest needs an A100, which then serves all.
  PackResult result = packed(problem);
  EXPECT_EQ(result.score.micro_usd_per_hour, 3'000'000);
  EXPECT_EQ(result.score.gpus, 1);
  EXPECT_TRUE(result.is_proven);
  problem.demands[0].requests_per_second = Decimal(20);
  result = packed(problem);
  EXPECT_EQ(result.score.micro_usd_per_hour, 800'000);
  EXPECT_EQ(result.bound, 800'000);
  EXPECT_TRUE(result.is_proven);
  problem.offers = {offer_of("T4", 2, 400'000)};
  problem.demands[0].requests_per_second = Decimal(21);
  EXPECT_THAT(error_of(problem), HasSubstr("no plan exists"));
}

TEST(Pack, FreeGpusAreStillFew) {
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB", {}, 0), offer_of("A30", {}, 0)};
  problem.demands = {demand_of("m", "70", "100")};
  problem.tables = {table_of("m", "A100-80GB", {{"1g.10gb", "10", "1"}})};
  problem.tables[0].points.push_back({"A30", "1g.6gb", 1, 1, Decimal(10), Decimal(1)});
  const PackResult result = packed(problem);
  EXPECT_EQ(result.score.micro_usd_per_hour, 0);
  EXPECT_EQ(result.score.gpus, 1);
}

TEST(Pack, TenantsApartGetGpusOfTheirOwn) {
  PackingProblem problem = one_model("10", "100", {{"1g.10gb", "10", "1"}});
  problem.demands = {demand_of("m", "10", "100", "a"), demand_of("m", "10", "100", "b"),
                     demand_of("m", "10", "101", "c")};
  EXPECT_EQ(packed(problem).score.gpus, 1);
  problem.rules.keeps_tenants_apart = true;
  EXPECT_EQ(packed(problem).score.gpus, 3);
  EXPECT_TRUE(packed(problem).is_proven);
  problem.offers[0].count_max = 3;
  EXPECT_EQ(packed(problem).score.gpus, 3);
  problem.offers[0].count_max = 2;
  EXPECT_THAT(error_of(problem), HasSubstr("wanted GPUs enough"));
}

TEST(Pack, FleetsWithJustEnoughGpusAreNotRefused) {
  for (const std::uint64_t seed : {0U, 17U}) {
    const reference::LimitedFleet fleet(seed);
    const Result<PackResult> result = pack(fleet.problem(), {.nodes_max = 6'000'000});
    ASSERT_TRUE(result) << "seed " << seed << ": " << result.error().message;
    EXPECT_LE(*result->score.micro_usd_per_hour, fleet.cost()) << "seed " << seed;
  }
}

TEST(Pack, ATenantKeptApartLeavesAShortGpuToTheOneThatSavesMoreByIt) {
  PackingProblem problem;
  problem.offers = {offer_of("L4-24GB", 1, 1'000'000), offer_of("T4", 4, 2'000'000)};
  problem.rules.keeps_tenants_apart = true;
  problem.demands = {demand_of("m", "10", "100", "a"), demand_of("n", "10", "100", "b")};
  problem.tables = {table_of("m", "L4-24GB", {{"full", "10", "1"}}), table_of("n", "L4-24GB", {{"full", "10", "1"}})};
  for (const PerformancePoint& point : table_of("m", "T4-16GB", {{"full", "10", "1"}}).points) {
    problem.tables[0].points.push_back(point);
  }
  for (const PerformancePoint& point : table_of("n", "T4-16GB", {{"full", "5", "1"}}).points) {
    problem.tables[1].points.push_back(point);
  }
  const PackResult result = packed(problem);
  EXPECT_EQ(result.score.micro_usd_per_hour, 3'000'000);
  EXPECT_TRUE(result.is_proven);
}

TEST(Pack, NumbersTooLongForExactWorkAreRefused) {
  EXPECT_THAT(error_of(one_model("1e-25", "100", {{"1g.10gb", "100000000", "1"}})), HasSubstr("fewer digits"));
  EXPECT_THAT(error_of(one_model("1e9", "100", {{"1g.10gb", "0.001", "1"}})), HasSubstr("slices"));
}

TEST(Pack, FewLargeDemandsTakeHardlyMoreThanTheBound) {
  PackingProblem problem;
  problem.offers = {offer_of("A100-80GB")};
  const auto add = [&](const char* model, const char* rate, const std::vector<Row>& rows) {
    problem.demands.push_back(demand_of(model, rate, "100"));
    problem.tables.push_back(table_of(model, "A100-80GB", rows));
  };
  add("a", "123456.7",
      {{"1g.10gb", "411", "1"}, {"2g.20gb", "820", "1"}, {"3g.40gb", "1371.3", "1"}, {"4g.40gb", "1620", "1"}});
  add("b", "45678.9",
      {{"1g.10gb", "184", "1"}, {"2g.20gb", "382.2", "1"}, {"3g.40gb", "678", "1"}, {"7g.80gb", "1340", "1"}});
  add("c", "98765.4",
      {{"2g.20gb", "526", "1"}, {"3g.40gb", "883", "1"}, {"4g.40gb", "1043", "1"}, {"7g.80gb", "1912", "1"}});
  const PackResult result = packed(problem);
  EXPECT_GT(result.score.gpus, 100);
  EXPECT_LE(result.score.gpus, result.bound + 1);
}

TEST(Pack, TheSameQuestionHasTheSameAnswer) {
  PackingProblem problem =
      one_model("3000", "100", {{"1g.10gb", "101", "1"}, {"2g.20gb", "211", "1"}, {"3g.40gb", "333", "1"}});
  EXPECT_EQ(packed(problem).packing, packed(problem).packing);
}

/// ParvaGPU's demands and tables (SC'24), from the public data.
class ParvaData : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("BERTH_DATA");
    if (data == nullptr) GTEST_SKIP() << "BERTH_DATA is not set";
    folder_ = std::string(data) + "/parvagpu/";
  }

  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::ifstream file(folder_ + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  [[nodiscard]] std::vector<std::vector<std::string>> cells_of(const std::string& path) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text_of(path));
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      std::vector<std::string> cells;
      std::istringstream fields(line);
      for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
      rows.push_back(std::move(cells));
    }
    return rows;
  }

  [[nodiscard]] PackingProblem scenario(std::size_t index, int processes_max) const {
    const std::vector<std::string> models = {"bert",        "densenet121", "densenet169", "densenet201",
                                             "inceptionv3", "mobilenetv2", "resnet101",   "resnet152",
                                             "resnet50",    "vgg16",       "vgg19"};
    const auto rates = cells_of("SLO/SLO_req_rate.csv");
    const auto targets = cells_of("SLO/SLO_latency.csv");
    PackingProblem problem;
    problem.offers = {offer_of("A100-80GB")};
    problem.rules.processes_max = processes_max;
    for (std::size_t m = 0; m < models.size(); ++m) {
      PerformanceTable table = profile::read_parvagpu(text_of("prof_data/" + models[m] + ".csv"), models[m]).value();
      table.model = models[m];
      problem.tables.push_back(std::move(table));
      if (rates[index][m] == "N/A") continue;
      problem.demands.push_back(demand_of(models[m], rates[index][m], targets[index][m]));
    }
    return problem;
  }

  std::string folder_;
};

TEST_F(ParvaData, SixScenariosAreProvenMinimal) {
  // ParvaGPU's own plans take 2, 3, 5, 7, 13, 16 GPUs, with up to 5 processes in some places.
  const std::vector<std::pair<int, std::vector<std::int64_t>>> wanted = {{3, {2, 3, 5, 7, 12, 16}},
                                                                         {5, {2, 3, 5, 7, 12, 15}}};
  for (const auto& [processes_max, gpus] : wanted) {
    for (std::size_t s = 0; s < gpus.size(); ++s) {
      const PackResult result = packed(scenario(s, processes_max));
      EXPECT_EQ(result.score.gpus, gpus[s]) << "scenario " << s + 1 << ", " << processes_max << " processes";
      EXPECT_TRUE(result.is_proven);
      EXPECT_TRUE(result.is_largest_free_proven);
      EXPECT_TRUE(result.is_slice_count_proven);
    }
  }
}

TEST_F(ParvaData, AHundredModelsOnAThousandGpus) {
  const PackingProblem base = scenario(5, 3);
  PackingProblem problem = base;
  problem.tables.clear();
  problem.demands.clear();
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    PerformanceTable table = base.tables[static_cast<std::size_t>(i) % 11];
    Demand demand = base.demands[static_cast<std::size_t>(i) % 11];
    table.model = demand.model = demand.tenant = "m" + std::to_string(100 + i);
    const Decimal speed(900 + static_cast<std::int64_t>(rng.below(200)), 1000);
    for (PerformancePoint& point : table.points) point.requests_per_second = point.requests_per_second * speed;
    demand.requests_per_second = demand.requests_per_second * Decimal(2 + static_cast<std::int64_t>(rng.below(10)));
    problem.tables.push_back(std::move(table));
    problem.demands.push_back(std::move(demand));
  }
  const PackResult result = packed(problem);
  EXPECT_GT(result.score.gpus, 500);
  EXPECT_LE(static_cast<double>(result.score.gpus - result.bound), 0.005 * static_cast<double>(result.score.gpus));
}

}  // namespace
}  // namespace berth::packing
