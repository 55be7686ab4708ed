#include "engine/rivals/layout.h"

#include <gtest/gtest.h>

#include "engine/rivals/detail/test_scenario.h"

namespace berth::partition {
namespace {

using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::service_with;
using testing::show;

std::vector<ServiceSpec> services(const std::vector<std::string>& names) {
  std::vector<ServiceSpec> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(service_everywhere(name));
  return all;
}

TEST(Fixed, IsTheLayoutOfTheFile) {
  Scenario scenario = scenario_of({gpus("A100-80GB", 1)}, services({"a", "b"}));
  EXPECT_EQ(show(scenario, fixed_layout(scenario)), "infeasible: the scenario has no layout");
  EXPECT_EQ(show({}, fixed_layout({})), "");
  const ProfileId small = *mig::find_profile(scenario.model_of({0}), "1g.10gb");
  scenario.layout = Layout{{{{0}, 0, small}, Role::kInference, {{0}}},
                           {{{0}, 1, small}, Role::kInference, {}},
                           {{{0}, 6, small}, Role::kRetraining, {{0}}}};
  // A service without a slice is allowed; a slice without a service exists and is unowned.
  EXPECT_EQ(show(scenario, fixed_layout(scenario)), "0:1g.10gb@0=a 0:1g.10gb@1= 0:1g.10gb@6=a");
}

TEST(SlicesOf, AreThoseForInferenceOnly) {
  const Layout layout = {{{{0}, 0, {0}}, Role::kInference, {{0}, {1}}}, {{{1}, 0, {0}}, Role::kRetraining, {{1}}}};
  EXPECT_EQ(slices_of(layout, {1}), (std::vector<Slice>{{{0}, 0, {0}}}));
  EXPECT_TRUE(slices_of(layout, {2}).empty());
}

TEST(Shared, DealsRoundRobin) {
  const struct {
    int gpu_count;
    std::vector<std::string> names;
    std::string wanted;
  } cases[] = {
      {1, {"a"}, "0:full@0=a"},
      {2, {"a", "b", "c"}, "0:full@0=a,c 1:full@0=b"},
      {3, {"a", "b"}, "0:full@0=a 1:full@0=b 2:full@0=a"},
      {4, {"a", "b", "c", "d", "e", "f"}, "0:full@0=a,e 1:full@0=b,f 2:full@0=c 3:full@0=d"},
  };
  for (const auto& [gpu_count, names, wanted] : cases) {
    const Scenario scenario = scenario_of({gpus("A100-80GB", gpu_count)}, services(names));
    EXPECT_EQ(show(scenario, shared_layout(scenario)), wanted);
  }
}

TEST(Shared, PassesOverGpusThatCannotServe) {
  const Scenario scenario =
      scenario_of({gpus("T4-16GB", 1), gpus("A100-80GB", 1)},
                  {service_with("a", {{"A100-80GB", "full", 10}}), service_with("b", {{"T4-16GB", "full", 10}})});
  EXPECT_EQ(show(scenario, shared_layout(scenario)), "0:full@0=b 1:full@0=a");
}

TEST(Whole, NeedsAGpuForEachService) {
  const Scenario scenario = scenario_of({gpus("A100-80GB", 2)}, services({"a", "b", "c"}));
  EXPECT_EQ(show(scenario, whole_layout(scenario, {1, 1, 1})),
            "infeasible: needs 3 GPUs, one for each service; the fleet has 2");
}

TEST(Whole, GivesTheRestByLoadPerCapacity) {
  const Scenario scenario =
      scenario_of({gpus("A100-80GB", 6)}, {service_everywhere("a", 100), service_everywhere("b", 50)});
  // Load per capacity after each step: a 300/700, b 200/350; then b has 200/700, a 300/700; then ...
  EXPECT_EQ(show(scenario, whole_layout(scenario, {300, 200})),
            "0:full@0=a 1:full@0=b 2:full@0=b 3:full@0=a 4:full@0=b 5:full@0=a");
}

TEST(Whole, GivesTiesToTheFirstService) {
  const Scenario scenario = scenario_of({gpus("A100-80GB", 3)}, services({"a", "b"}));
  EXPECT_EQ(show(scenario, whole_layout(scenario, {5, 5})), "0:full@0=a 1:full@0=b 2:full@0=a");
}

TEST(Whole, MatchesByAugmentingPaths) {
  const auto both = service_with("both", {{"T4-16GB", "full", 10}, {"A10-24GB", "full", 10}});
  const auto only_t4 = service_with("only_t4", {{"T4-16GB", "full", 10}});
  const Scenario scenario = scenario_of({gpus("T4-16GB", 1), gpus("A10-24GB", 1)}, {both, only_t4});
  EXPECT_EQ(show(scenario, whole_layout(scenario, {1, 1})), "0:full@0=only_t4 1:full@0=both");
  const Scenario too_many = scenario_of({gpus("T4-16GB", 1), gpus("A10-24GB", 1)}, {only_t4, only_t4});
  EXPECT_EQ(show(too_many, whole_layout(too_many, {1, 1})),
            "infeasible: service only_t4: every whole GPU that can serve it is needed by another service");
}

TEST(Whole, LeavesAGpuThatNobodyCanUse) {
  const Scenario scenario =
      scenario_of({gpus("A10-24GB", 1), gpus("T4-16GB", 1)}, {service_with("a", {{"T4-16GB", "full", 10}})});
  EXPECT_EQ(show(scenario, whole_layout(scenario, {1})), "1:full@0=a");
}

TEST(EveryPolicy, NamesTheServiceThatFitsNoSlice) {
  ServiceSpec slow = service_with("slow", {{"A100-80GB", "7g.80gb", 10}});
  slow.batching.slo_factor = Decimal(1, 10);  // 10 ms is not below 10 ms
  const Scenario scenario = scenario_of({gpus("A100-80GB", 2)}, {service_everywhere("a"), slow});
  const std::string why =
      "infeasible: service slow: no operating point below 10 ms on any slice of A100-80GB (target 100 ms x 0.1, at "
      "most 3 "
      "processes)";
  const std::string why_whole =
      "infeasible: service slow: no operating point below 10 ms on any whole GPU of A100-80GB (target 100 ms x 0.1, at "
      "most 3 "
      "processes)";
  EXPECT_EQ(show(scenario, static_even_layout(scenario)), why);
  EXPECT_EQ(show(scenario, paris_layout(scenario, {{1}, {1}})), why);
  StaticBestSearch search;
  search.weights = {1, 1};
  EXPECT_EQ(show(scenario, static_best_layout(scenario, search).layout), why);
  EXPECT_EQ(show(scenario, shared_layout(scenario)), why_whole);
  EXPECT_EQ(show(scenario, whole_layout(scenario, {1, 1})), why_whole);
}

TEST(StaticEven, OneA100) {
  const struct {
    std::vector<std::string> names;
    std::string wanted;
  } cases[] = {
      {{"a"}, "0:full@0=a"},
      {{"a", "b"}, "0:3g.40gb@0=a 0:3g.40gb@4=b"},
      {{"a", "b", "c"}, "0:2g.20gb@0=a 0:2g.20gb@2=b 0:2g.20gb@4=c"},
      {{"a", "b", "c", "d", "e", "f", "g"},
       "0:1g.10gb@0=a 0:1g.10gb@1=b 0:1g.10gb@2=c 0:1g.10gb@3=d 0:1g.10gb@4=e 0:1g.10gb@5=f 0:1g.10gb@6=g"},
  };
  for (const auto& [names, wanted] : cases) {
    const Scenario scenario = scenario_of({gpus("A100-80GB", 1)}, services(names));
    EXPECT_EQ(show(scenario, static_even_layout(scenario)), wanted);
  }
}

TEST(StaticEven, TooManyServices) {
  const Scenario scenario = scenario_of({gpus("A30", 1)}, services({"a", "b", "c", "d", "e"}));
  EXPECT_EQ(show(scenario, static_even_layout(scenario)),
            "infeasible: needs 5 slices, one for each service; the fleet's 1 GPU can be cut into at most 4");
  const auto large = service_with("large", {{"A30-24GB", "4g.24gb", 10}});
  const Scenario crowded = scenario_of({gpus("A30", 1)}, {large, service_everywhere("a")});
  EXPECT_EQ(show(crowded, static_even_layout(crowded)),
            "infeasible: no layout of the fleet's 1 GPU gives each of the 2 services a slice that can serve it");
}

TEST(StaticEven, DealsWholeGpusWhereTheyGoRound) {
  const Scenario scenario = scenario_of({gpus("A100-80GB", 3)}, services({"a", "b"}));
  EXPECT_EQ(show(scenario, static_even_layout(scenario)), "0:3g.40gb@0=a 0:3g.40gb@4=b 1:full@0=b 2:full@0=a");
}

TEST(StaticEven, DealsTheLargestSlicesWhereAWholeGpuCannotBeUsed) {
  Scenario scenario = scenario_of({gpus("A100-80GB", 3)}, services({"a", "b"}));
  scenario.fleet[0].model.has_full = false;
  EXPECT_EQ(show(scenario, static_even_layout(scenario)), "0:3g.40gb@0=a 0:3g.40gb@4=b 1:7g.80gb@0=b 2:7g.80gb@0=a");
  EXPECT_TRUE(show(scenario, shared_layout(scenario)).starts_with("infeasible"));
}

}  // namespace
}  // namespace berth::partition
