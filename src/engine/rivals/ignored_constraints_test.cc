#include "engine/rivals/ignored_constraints.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "engine/rivals/detail/test_scenario.h"

namespace berth::partition {
namespace {

using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using Constraints = std::vector<ConstraintId>;

constexpr ServiceId kA{0};
constexpr ServiceId kB{1};

Scenario two_services() {
  return scenario_of({gpus("A100-80GB", 2)}, {service_everywhere("a"), service_everywhere("b")});
}

const Layout kApart = {{{{0}, 0, ProfileId::full()}, Role::kInference, {{0}}},
                       {{{1}, 0, ProfileId::full()}, Role::kInference, {{1}}}};
const Layout kTogether = {{{{0}, 0, ProfileId::full()}, Role::kInference, {{0}, {1}}}};

Layout on_one_gpu() {
  const ProfileId small = *mig::find_profile(gpus("A100-80GB", 1).model, "1g.10gb");
  return {{{{0}, 0, small}, Role::kInference, {{0}}}, {{{0}, 1, small}, Role::kInference, {{1}}}};
}

TEST(IgnoredConstraints, FloorsAlways) {
  Scenario scenario = two_services();
  EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{});
  scenario.services[1].floor_attainment = Decimal(9, 10);
  EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{constraint_of(kB, ConstraintKind::kFloor)});
}

TEST(IgnoredConstraints, PinsUnlessTheLayoutKeepsThem) {
  Scenario scenario = two_services();
  scenario.services[0].pins = {{on_one_gpu()[0].slice}};
  EXPECT_EQ(ignored_constraints(scenario, on_one_gpu()), Constraints{});
  EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{constraint_of(kA, ConstraintKind::kPins)});
  scenario.services[0].pins = {{on_one_gpu()[1].slice}};
  EXPECT_EQ(ignored_constraints(scenario, on_one_gpu()), Constraints{constraint_of(kA, ConstraintKind::kPins)});
}

TEST(IgnoredConstraints, IsolationWhereTheLayoutBreaksIt) {
  const struct {
    Isolation isolation;
    bool is_kept_on_one_gpu;
    bool is_kept_together;
  } cases[] = {{Isolation::kGpu, false, false},
               {Isolation::kMig, true, false},
               {Isolation::kMps, true, true},
               {Isolation::kTimeslice, true, true}};
  for (const auto& [isolation, is_kept_on_one_gpu, is_kept_together] : cases) {
    Scenario scenario = two_services();
    scenario.services[0].isolation = isolation;
    scenario.services[1].isolation = Isolation::kTimeslice;
    EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{});
    EXPECT_EQ(ignored_constraints(scenario, on_one_gpu()).empty(), is_kept_on_one_gpu);
    EXPECT_EQ(ignored_constraints(scenario, kTogether).empty(), is_kept_together);
  }
}

TEST(IgnoredConstraints, TrustDomainsThatShareAGpu) {
  Scenario scenario = two_services();
  scenario.services[0].trust_domain = "red";
  EXPECT_EQ(ignored_constraints(scenario, on_one_gpu()), Constraints{constraint_of(kA, ConstraintKind::kTrustDomain)});
  EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{});
  scenario.services[1].trust_domain = "red";
  EXPECT_EQ(ignored_constraints(scenario, on_one_gpu()), Constraints{});
  scenario.services[1].trust_domain = "blue";
  EXPECT_EQ(
      ignored_constraints(scenario, on_one_gpu()),
      (Constraints{constraint_of(kA, ConstraintKind::kTrustDomain), constraint_of(kB, ConstraintKind::kTrustDomain)}));
}

TEST(IgnoredConstraints, ReplicasThatTheLayoutDoesNotHave) {
  Scenario scenario = two_services();
  scenario.services[0].running.replicas = ReplicaLimits{.slices_min = 1, .slices_max = 1};
  EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{});
  for (const ReplicaLimits& limits :
       {ReplicaLimits{.slices_min = 2, .slices_max = std::nullopt}, ReplicaLimits{.slices_min = 0, .slices_max = 0}}) {
    scenario.services[0].running.replicas = limits;
    EXPECT_EQ(ignored_constraints(scenario, kApart), Constraints{constraint_of(kA, ConstraintKind::kReplicas)});
  }
  EXPECT_EQ(constraints_ignored_while_moving(scenario), Constraints{constraint_of(kA, ConstraintKind::kReplicas)});
}

TEST(IgnoredConstraints, WarmPoolsAlways) {
  Scenario scenario = two_services();
  scenario.services[1].ready.warm_pool = WarmPool{};
  const Constraints wanted{constraint_of(kB, ConstraintKind::kWarmPool)};
  EXPECT_EQ(ignored_constraints(scenario, kApart), wanted);
  EXPECT_EQ(constraints_ignored_while_moving(scenario), wanted);
  EXPECT_EQ(constraint_word(ConstraintKind::kWarmPool), "warm_pool");
}

}  // namespace
}  // namespace berth::partition
