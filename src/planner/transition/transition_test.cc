#include "planner/transition/transition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "domain/mig/catalogue.h"
#include "domain/profile/readers.h"
#include "planner/packing/find_fault.h"
#include "planner/packing/pack.h"

namespace berth::transition {
namespace {

GpuModel a100() { return *mig::find_gpu_model("A100-80GB"); }
ProfileId kind(std::string_view name) { return *mig::find_profile(a100(), name); }

/// "model profile rate [batch]": one measured row each, latency 10 ms.
struct Row {
  std::string model;
  std::string profile;
  std::int64_t rate = 0;
  int batch = 1;
};

PackingProblem problem_of(const std::vector<Row>& rows, const std::vector<std::pair<std::string, int>>& demands) {
  PackingProblem problem;
  problem.offers.push_back({a100(), {}, {}});
  for (const auto& [model, rate] : demands) {
    problem.demands.push_back(
        {.model = model, .tenant = model, .requests_per_second = Decimal(rate), .latency_ms = Decimal(100)});
  }
  std::map<std::string, PerformanceTable> tables;
  for (const Row& row : rows) {
    tables[row.model].model = row.model;
    tables[row.model].points.push_back({a100().name, row.profile, row.batch, 1, Decimal(row.rate), Decimal(10)});
  }
  for (auto& [model, table] : tables) {
    std::ranges::sort(table.points, {}, [](const PerformancePoint& p) { return std::pair(p.profile, p.batch); });
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

/// A slice of the first GPUs, at the row of that batch.
PackedSlice slice_of(const PackingProblem& problem, std::uint32_t demand, Slice slice, int batch = 1) {
  const std::string profile = a100().profiles[slice.profile.index].name;
  PackedSlice packed = {.slice = slice, .demand = demand, .batch = batch, .processes = 1, .requests_per_second = {}};
  for (const PerformancePoint& point : problem.table_of(problem.demands[demand].model)->points) {
    if (point.profile == profile && point.batch == batch) packed.requests_per_second = point.requests_per_second;
  }
  return packed;
}

Transition checked(const PackingProblem& problem, const StandingPlan& standing) {
  const auto fewest = packing::pack(problem, {});
  EXPECT_TRUE(fewest.has_value()) << (fewest ? "" : fewest.error().message);
  const auto transition = plan_transition(problem, standing, *fewest, {.nodes_max = 2'000'000});
  EXPECT_TRUE(transition.has_value());
  EXPECT_EQ(packing::find_fault(problem, transition->target), std::nullopt);
  EXPECT_EQ(find_step_fault(problem, standing, *transition), std::nullopt);
  EXPECT_LE(transition->target.gpu_offers.size(), fewest->packing.gpu_offers.size());
  EXPECT_LE(transition->changes_bound, transition->changes());
  return *transition;
}

const std::vector<Row> three_models = {{"a", "1g.10gb", 10}, {"a", "3g.40gb", 30}, {"b", "2g.20gb", 20},
                                       {"b", "4g.40gb", 40}, {"c", "3g.40gb", 30}, {"c", "4g.40gb", 30}};

TEST(Transition, TheSameDemandChangesNothing) {
  const PackingProblem problem = problem_of(three_models, {{"a", 30}, {"b", 40}});
  const StandingPlan standing = {
      problem.demands,
      {{0}, {slice_of(problem, 1, {{0}, 0, kind("4g.40gb")}), slice_of(problem, 0, {{0}, 4, kind("3g.40gb")})}}};
  const Transition transition = checked(problem, standing);
  EXPECT_EQ(transition.changes(), 0);
  EXPECT_TRUE(transition.is_fewest_proven);
  EXPECT_TRUE(transition.steps.empty());
  EXPECT_EQ(transition.target, standing.packing);
}

TEST(Transition, NothingStands) {
  const Transition transition = checked(problem_of(three_models, {{"a", 30}, {"b", 40}}), {});
  EXPECT_EQ(transition.changes(), 2);
  EXPECT_TRUE(transition.is_fewest_proven);
  EXPECT_EQ(transition.gpus, (std::vector<TransitionGpu>{{0, std::nullopt, 0}}));
}

TEST(Transition, NothingIsWanted) {
  const PackingProblem before = problem_of(three_models, {{"a", 10}});
  const StandingPlan standing = {before.demands, {{0}, {slice_of(before, 0, {{0}, 6, kind("1g.10gb")})}}};
  const Transition transition = checked(problem_of(three_models, {}), standing);
  EXPECT_EQ(transition.destroyed, 1);
  EXPECT_EQ(transition.gone, before.demands);
  EXPECT_EQ(transition.gpus, (std::vector<TransitionGpu>{{0, 0, std::nullopt}}));
  EXPECT_TRUE(transition.target.gpu_offers.empty());
}

// Two GPUs half full: one is released, and its slice is created on the other before it is destroyed.
TEST(Transition, ReleasesAGpuWithoutFailing) {
  const PackingProblem problem = problem_of(three_models, {{"a", 30}, {"b", 40}});
  const StandingPlan standing = {
      problem.demands,
      {{0, 0}, {slice_of(problem, 0, {{0}, 4, kind("3g.40gb")}), slice_of(problem, 1, {{1}, 0, kind("4g.40gb")})}}};
  const Transition transition = checked(problem, standing);
  EXPECT_EQ(transition.changes(), 2);
  ASSERT_EQ(transition.steps.size(), 2U);
  EXPECT_EQ(transition.steps[0].kind, StepKind::kCreate);
  EXPECT_EQ(transition.steps[1].kind, StepKind::kDestroy);
  EXPECT_EQ(transition.spare_gpus, 0);
}

// b must take 4g@0, where c is; c can only move to 3g@4, where a is; a can only move to where b is. No GPU has room for
// any of them: a spare one is needed temporarily.
TEST(Transition, ACircleTakesASpareGpu) {
  const std::vector<Row> rows = {
      {"a", "4g.40gb", 40}, {"c", "3g.40gb", 30}, {"a", "3g.40gb", 20}, {"c", "4g.40gb", 20}};
  const PackingProblem before = problem_of(rows, {{"a", 20}, {"c", 20}});
  const StandingPlan standing = {
      before.demands,
      {{0}, {slice_of(before, 1, {{0}, 0, kind("4g.40gb")}), slice_of(before, 0, {{0}, 4, kind("3g.40gb")})}}};
  const Transition transition = checked(problem_of(rows, {{"a", 40}, {"c", 30}}), standing);
  EXPECT_EQ(transition.changes(), 4);
  EXPECT_EQ(transition.temporary, 1);
  EXPECT_EQ(transition.spare_gpus, 1);
  EXPECT_EQ(transition.steps.size(), 6U);
}

// A slice does not serve while it is retuned: a temporary one in the free room does.
TEST(Transition, ARetuneTakesATemporarySlice) {
  const std::vector<Row> rows = {{"a", "1g.10gb", 10, 1}, {"a", "1g.10gb", 15, 8}};
  const PackingProblem before = problem_of(rows, {{"a", 10}});
  const StandingPlan standing = {before.demands, {{0}, {slice_of(before, 0, {{0}, 6, kind("1g.10gb")})}}};
  const Transition transition = checked(problem_of(rows, {{"a", 15}}), standing);
  EXPECT_EQ(transition.changes(), 0);
  EXPECT_EQ(transition.retuned, 1);
  EXPECT_EQ(transition.temporary, 1);
  EXPECT_EQ(transition.spare_gpus, 0);
}

TEST(Transition, APointThatIsUsableStays) {
  const std::vector<Row> rows = {{"a", "1g.10gb", 10, 1}, {"a", "1g.10gb", 15, 8}};
  const PackingProblem before = problem_of(rows, {{"a", 10}});
  const StandingPlan standing = {before.demands, {{0}, {slice_of(before, 0, {{0}, 6, kind("1g.10gb")})}}};
  const Transition transition = checked(problem_of(rows, {{"a", 9}}), standing);
  EXPECT_EQ(transition.retuned, 0);
  EXPECT_EQ(transition.target, standing.packing);
}

// Tenants shared a GPU but no longer may: only one of them can stay.
TEST(Transition, TenantsAreTakenApart) {
  PackingProblem problem = problem_of(three_models, {{"a", 30}, {"b", 40}});
  const StandingPlan standing = {
      problem.demands,
      {{0}, {slice_of(problem, 1, {{0}, 0, kind("4g.40gb")}), slice_of(problem, 0, {{0}, 4, kind("3g.40gb")})}}};
  problem.rules.keeps_tenants_apart = true;
  const Transition transition = checked(problem, standing);
  EXPECT_EQ(transition.changes(), 2);
  EXPECT_EQ(transition.target.gpu_offers.size(), 2U);
  EXPECT_TRUE(transition.is_fewest_proven);
}

// The GPU model of the standing plan is no longer available.
TEST(Transition, AModelThatIsNotOfferedGoes) {
  PackingProblem problem = problem_of(three_models, {{"a", 30}});
  const StandingPlan standing = {problem.demands, {{0}, {slice_of(problem, 0, {{0}, 4, kind("3g.40gb")})}}};
  problem.offers[0].count_max = 0;
  problem.offers.push_back({*mig::find_gpu_model("H100-80GB"), {}, {}});
  problem.tables[0].points.push_back({problem.offers[1].model.name, "3g.40gb", 1, 1, Decimal(30), Decimal(10)});
  const Transition transition = checked(problem, standing);
  EXPECT_EQ(transition.changes(), 2);
  EXPECT_EQ(transition.gpus, (std::vector<TransitionGpu>{{0, 0, std::nullopt}, {1, std::nullopt, 0}}));
}

// A reduced demand keeps only the slices that are not surplus.
TEST(Transition, SurplusSlicesGo) {
  const PackingProblem before = problem_of({{"a", "1g.10gb", 10}}, {{"a", 50}});
  StandingPlan standing = {before.demands, {{0}, {}}};
  for (int start = 0; start < 5; ++start) {
    standing.packing.slices.push_back(slice_of(before, 0, {{0}, start, kind("1g.10gb")}));
  }
  const Transition transition = checked(problem_of({{"a", "1g.10gb", 10}}, {{"a", 25}}), standing);
  EXPECT_EQ(transition.kept, 3);
  EXPECT_EQ(transition.destroyed, 2);
  EXPECT_EQ(transition.created, 0);
}

TEST(Transition, RefusesAnIllegalStandingPlan) {
  const PackingProblem problem = problem_of(three_models, {{"a", 30}});
  const StandingPlan standing = {
      problem.demands,
      {{0}, {slice_of(problem, 0, {{0}, 0, kind("3g.40gb")}), slice_of(problem, 0, {{0}, 0, kind("1g.10gb")})}}};
  const auto transition = plan_transition(problem, standing, *packing::pack(problem, {}), {});
  ASSERT_FALSE(transition.has_value());
  EXPECT_NE(transition.error().message.find("the standing plan, gpu-0: "), std::string::npos);
}

TEST(Transition, ManyDigitsAreRefused) {
  PackingProblem problem = problem_of(three_models, {{"a", 30}});
  problem.demands[0].requests_per_second = Decimal(1, 3);
  EXPECT_FALSE(plan_transition(problem, {}, {}, {}).has_value());
}

/// A transition with one thing wrong.
struct Broken {
  const char* name;
  void (*breaks)(Transition&);
  const char* fault;
};

class StepFault : public ::testing::TestWithParam<Broken> {};

TEST_P(StepFault, IsFound) {
  const PackingProblem problem = problem_of(three_models, {{"a", 30}, {"b", 40}});
  const StandingPlan standing = {
      problem.demands,
      {{0, 0}, {slice_of(problem, 0, {{0}, 4, kind("3g.40gb")}), slice_of(problem, 1, {{1}, 0, kind("4g.40gb")})}}};
  Transition transition = checked(problem, standing);
  GetParam().breaks(transition);
  const auto fault = find_step_fault(problem, standing, transition);
  ASSERT_TRUE(fault.has_value());
  EXPECT_NE(fault->find(GetParam().fault), std::string::npos) << *fault;
}

const Broken broken_ones[] = {
    Broken{"order", [](Transition& plan) { std::swap(plan.steps[0], plan.steps[1]); }, "requests per second, needs"},
    Broken{"missing", [](Transition& plan) { plan.steps.pop_back(); }, "do not end at the new plan"},
    Broken{"twice", [](Transition& plan) { plan.steps.push_back(plan.steps[0]); }, "overlap"},
    Broken{"point", [](Transition& plan) { plan.steps[0].slice.batch = 3; }, "no usable point"},
    Broken{"count", [](Transition& plan) { ++plan.kept; }, "counts"},
    Broken{"spare", [](Transition& plan) { plan.gpus.push_back({}); }, "spare"},
    Broken{"start", [](Transition& plan) { plan.steps[0].slice.slice.start = 3; }, "can start at"},
    Broken{"gpu", [](Transition& plan) { plan.gpus[0].standing.reset(); }, "out of order"},
    Broken{"kind", [](Transition& plan) { plan.steps[1].is_temporary = true; }, "temporary"}};

INSTANTIATE_TEST_SUITE_P(Transition, StepFault, ::testing::ValuesIn(broken_ones),
                         [](const auto& tested) { return tested.param.name; });

// ---- ParvaGPU's scenarios, one to the next and back

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The cells of a csv file of numbers.
std::vector<std::vector<std::string>> cells_of(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(bytes_of(path));
  for (std::string line; std::getline(lines, line);) {
    std::erase(line, '\r');
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

PackingProblem parvagpu(const std::string& folder, std::size_t scenario) {
  PackingProblem problem;
  problem.offers.push_back({a100(), {}, {}});
  const std::vector<std::string> models = {"bert",        "densenet121", "densenet169", "densenet201",
                                           "inceptionv3", "mobilenetv2", "resnet101",   "resnet152",
                                           "resnet50",    "vgg16",       "vgg19"};
  const auto rates = cells_of(folder + "/SLO/SLO_req_rate.csv")[scenario];
  const auto targets = cells_of(folder + "/SLO/SLO_latency.csv")[scenario];
  for (std::size_t i = 0; i < models.size(); ++i) {
    auto table = profile::read_parvagpu(bytes_of(folder + "/prof_data/" + models[i] + ".csv"), models[i]);
    table->model = models[i];
    problem.tables.push_back(*std::move(table));
    if (rates[i] == "N/A") continue;
    problem.demands.push_back({models[i], models[i], *Decimal::parse(rates[i]), *Decimal::parse(targets[i])});
  }
  return problem;
}

TEST(Transition, LeadsThroughParvaGpusScenarios) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
  const std::string folder = std::string(data) + "/parvagpu";
  StandingPlan standing;
  for (const std::size_t scenario : {0U, 1U, 2U, 3U, 4U, 5U, 4U, 3U, 2U, 1U, 0U}) {
    SCOPED_TRACE("to scenario " + std::to_string(scenario + 1));
    const PackingProblem problem = parvagpu(folder, scenario);
    const Transition transition = checked(problem, standing);
    EXPECT_LE(transition.spare_gpus, 1);
    standing = {problem.demands, transition.target};
  }
}

// The same question gives the same answer.
TEST(Transition, IsDeterministic) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
  const std::string folder = std::string(data) + "/parvagpu";
  const PackingProblem before = parvagpu(folder, 3);
  const PackingProblem after = parvagpu(folder, 4);
  const StandingPlan standing = {before.demands, packing::pack(before, {})->packing};
  const Transition first = checked(after, standing);
  const Transition second = checked(after, standing);
  EXPECT_EQ(first.target, second.target);
  EXPECT_EQ(first.steps, second.steps);
}

}  // namespace
}  // namespace berth::transition
