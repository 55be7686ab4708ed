#include "engine/rivals/retraining_rule.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/mig/catalogue.h"
#include "engine/rivals/detail/test_scenario.h"

namespace berth::partition {
namespace {

using testing::gpus;
using testing::scenario_of;
using testing::service_with;

/// GPU 0 is an A100, GPU 1 a T4. The service serves on 1g, 2g, 3g (slowest there) and the T4, not on 4g.
Scenario retraining_scenario(std::map<int, std::int64_t> seconds_on, bool keeps_unfinished = false) {
  Scenario scenario =
      scenario_of({gpus("A100-80GB", 1), gpus("T4-16GB", 1)}, {service_with("a", {{"A100-80GB", "1g.10gb", 100},
                                                                                  {"A100-80GB", "2g.20gb", 200},
                                                                                  {"A100-80GB", "3g.40gb", 50},
                                                                                  {"T4-16GB", "full", 300}})});
  Retraining retraining;
  retraining.every = Micros::seconds(200);
  retraining.keeps_unfinished = keeps_unfinished;
  for (const auto& [size, seconds] : seconds_on) retraining.time_on[size] = Micros::seconds(seconds);
  scenario.services.front().retraining = retraining;
  return scenario;
}

/// Slices of the A100 for service 0 ("1g.10gb@6"); "T4" is GPU 1.
Slice slice_of(const Scenario& scenario, const std::string& text) {
  if (text == "T4") return {{1}, 0, ProfileId::full()};
  if (text == "full") return {{0}, 0, ProfileId::full()};
  const mig::Placement placement = mig::parse_state(scenario.model_of({0}), text).value().front();
  return {{0}, placement.start, placement.profile};
}

TEST(RetrainingRule, Table) {
  const std::map<int, std::int64_t> everywhere = {{0, 60}, {1, 180}, {2, 100}, {3, 70}, {4, 62}, {7, 45}};
  const struct {
    std::string why;
    std::map<int, std::int64_t> seconds_on;
    bool keeps_unfinished;
    std::vector<std::string> slices;
    std::string lent;
  } cases[] = {
      {"the only slice stays", everywhere, false, {"2g.20gb@0"}, ""},
      {"least throughput, not smallest", everywhere, false, {"1g.10gb@0", "2g.20gb@2", "3g.40gb@4"}, "3g.40gb@4"},
      {"ties: lower start", everywhere, false, {"1g.10gb@1", "1g.10gb@3"}, "1g.10gb@1"},
      {"one that cannot serve has no throughput", everywhere, false, {"4g.40gb@0", "2g.20gb@4"}, "4g.40gb@0"},
      {"what remains must serve", everywhere, false, {"4g.40gb@0", "3g.40gb@4"}, "4g.40gb@0"},
      {"what remains must serve, else nothing", {{3, 70}}, false, {"4g.40gb@0", "3g.40gb@4"}, ""},
      {"a size not listed cannot", {{2, 100}}, false, {"1g.10gb@0", "2g.20gb@2"}, "2g.20gb@2"},
      {"done when the next is due is lost", {{1, 200}, {2, 100}}, false, {"1g.10gb@0", "2g.20gb@2"}, "2g.20gb@2"},
      {"none is quick enough", {{1, 200}, {2, 300}}, false, {"1g.10gb@0", "2g.20gb@2"}, ""},
      {"unfinished work is kept: any size", {{1, 200}, {2, 300}}, true, {"1g.10gb@0", "2g.20gb@2"}, "1g.10gb@0"},
      {"quick ones first even so", {{1, 200}, {2, 100}}, true, {"1g.10gb@0", "2g.20gb@2"}, "2g.20gb@2"},
      {"the whole T4 has key 0", {{0, 60}}, false, {"1g.10gb@0", "T4"}, "T4"},
      {"a T4 has no compute slices", {{7, 45}}, false, {"1g.10gb@0", "T4"}, ""},
      {"a whole A100 may stand for 7g", {{7, 45}}, false, {"full", "T4"}, "full"},
  };
  for (const auto& test : cases) {
    const Scenario scenario = retraining_scenario(test.seconds_on, test.keeps_unfinished);
    Layout layout;
    for (const std::string& text : test.slices) layout.push_back({slice_of(scenario, text), Role::kInference, {{0}}});
    const auto wanted = test.lent.empty() ? std::nullopt : std::optional(slice_of(scenario, test.lent));
    EXPECT_EQ(slice_to_lend(scenario, layout, {0}), wanted) << test.why;
  }
}

TEST(RetrainingRule, LendsOnlyWhatTheServiceHoldsAloneForInference) {
  Scenario scenario = retraining_scenario({{1, 100}});
  scenario.services.push_back(scenario.services.front());
  const auto at = [&](const std::string& text) { return slice_of(scenario, text); };
  const Layout layout = {{at("1g.10gb@0"), Role::kRetraining, {{0}}},
                         {at("1g.10gb@1"), Role::kInference, {{1}}},
                         {at("1g.10gb@2"), Role::kInference, {{0}, {1}}},
                         {at("1g.10gb@3"), Role::kInference, {{0}}},
                         {at("1g.10gb@4"), Role::kInference, {{0}}}};
  EXPECT_EQ(slice_to_lend(scenario, layout, {0}), at("1g.10gb@3"));
  EXPECT_EQ(slice_to_lend(scenario, layout, {1}), std::nullopt);
  scenario.services[0].retraining.reset();
  EXPECT_EQ(slice_to_lend(scenario, layout, {0}), std::nullopt);
}

}  // namespace
}  // namespace berth::partition
