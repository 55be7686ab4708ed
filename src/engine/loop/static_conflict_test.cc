#include "engine/loop/static_conflict.h"

#include <gtest/gtest.h>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::slice_at;
using testing::two_gpus;
using Names = std::vector<std::string>;
using Ids = std::vector<ConstraintId>;

Names names_of(const Scenario& scenario, const Ids& ids) {
  Names names;
  names.reserve(ids.size());
  for (const ConstraintId& id : ids) names.push_back(constraint_name(scenario, id));
  return names;
}

/// Services a and b with every kind of constraint.
Scenario full_of_wishes() {
  Scenario scenario = two_gpus();
  for (ServiceSpec& service : scenario.services) {
    service.floor_attainment = Decimal(9, 10);
    service.changes_per_hour = 4;
    service.trust_domain = "x";
  }
  scenario.services[0].isolation = Isolation::kGpu;
  scenario.services[1].pins = {{slice_at(1, "1g.10gb", 0)}};
  scenario.frozen = {{.from = Instant(), .until = Instant(1)}};
  return scenario;
}

TEST(ConstraintsOf, AreThoseThatAreSet) {
  EXPECT_EQ(constraints_of(two_gpus()), Ids{});
  EXPECT_EQ(names_of(full_of_wishes(), constraints_of(full_of_wishes())),
            (Names{"a.floor", "a.isolation", "a.trust_domain", "a.changes_per_hour", "b.floor", "b.pins",
                   "b.trust_domain", "b.changes_per_hour", "frozen"}));
}

TEST(WithOnly, KeepsWhatIsNamed) {
  const Scenario scenario = full_of_wishes();
  const Ids all = constraints_of(scenario);
  EXPECT_EQ(constraints_of(with_only(scenario, all)), all);
  EXPECT_EQ(constraints_of(with_only(scenario, {})), Ids{});
  for (const ConstraintId& id : all) {
    // A trust domain is one constraint of all of its services.
    const bool is_domain = id.kind == ConstraintKind::kTrustDomain;
    const Ids kept = {constraint_of({0}, id.kind), constraint_of({1}, id.kind)};
    EXPECT_EQ(constraints_of(with_only(scenario, Ids{id})), is_domain ? kept : Ids{id});
  }
  EXPECT_EQ(with_only(scenario, {}).services[0].isolation, Isolation::kMig);
}

TEST(WithOnly, TakesFrozenWindowsAndWindowsWithoutChangesTogether) {
  Scenario scenario = two_gpus();
  scenario.no_changes = {.week_at_start = {}, .spans = {{.from_minute = 1, .until_minute = 2}}};
  EXPECT_EQ(constraints_of(scenario), Ids{kFrozenConstraint});
  EXPECT_EQ(with_only(scenario, Ids{kFrozenConstraint}).no_changes, scenario.no_changes);
  EXPECT_EQ(with_only(scenario, {}).no_changes, NoChanges());
}

TEST(StaticConflict, NamesTheSmallest) {
  struct Case {
    const char* name;
    void (*change)(Scenario&);
    Names names;
    const char* why;
  };
  const std::vector<Case> cases = {
      {"neighbours who may be", [](Scenario&) {}, {}, ""},
      {"one wants the GPU alone",
       [](Scenario& s) { s.services[1].isolation = Isolation::kGpu; },
       {"a.pins", "b.pins", "b.isolation"},
       "gpu-0: wanted b alone (b.isolation), found pins of a (1g.10gb@0) and b (2g.20gb@2)"},
      {"alone, and pinned elsewhere",
       [](Scenario& s) {
         s.services[0].isolation = Isolation::kGpu;
         s.services[1].pins = {{slice_at(1, "2g.20gb", 2)}};
       },
       {},
       ""},
      {"two domains",
       [](Scenario& s) {
         s.services[0].trust_domain = "x";
         s.services[1].trust_domain = "y";
       },
       {"a.pins", "a.trust_domain", "b.pins"},
       "gpu-0: wanted only services of trust domain x (a.trust_domain), found pins of a (1g.10gb@0) and b "
       "(2g.20gb@2)"},
      {"a domain and none",
       [](Scenario& s) { s.services[1].trust_domain = "y"; },
       {"a.pins", "b.pins", "b.trust_domain"},
       "gpu-0: wanted only services of trust domain y (b.trust_domain), found pins of a (1g.10gb@0) and b "
       "(2g.20gb@2)"},
      {"one domain", [](Scenario& s) { s.services[0].trust_domain = s.services[1].trust_domain = "x"; }, {}, ""},
      {"a GPU that the fleet does not have comes first, as the others look at it",
       [](Scenario& s) {
         s.fleet.front().count = 1;
         s.services[0].target_ms = Decimal(999, 100);
         s.services[1].pins = {{slice_at(0, "2g.20gb", 2)}, {slice_at(1, "1g.10gb", 0)}};
       },
       {"b.pins"},
       "gpu-1: wanted a GPU with a slice for b alone (b.pins), found a fleet of 1"},
      {"useless comes first, as it is smaller",
       [](Scenario& s) {
         s.services[0].isolation = Isolation::kGpu;
         s.services[1].pins.push_back({slice_at(1, "4g.40gb", 0)});
       },
       {"b.pins"},
       "gpu-1: wanted a slice that b can serve or retrain on (b.pins), found 4g.40gb@0"},
      {"retrains there",
       [](Scenario& s) {
         s.services[1].pins.push_back({slice_at(1, "4g.40gb", 0)});
         s.services[1].retraining.emplace().time_on = {{4, Micros::seconds(3)}};
       },
       {},
       ""},
      {"retrains on two, but only on one at a time",
       [](Scenario& s) {
         s.services[1].pins.push_back({slice_at(1, "4g.40gb", 0)});
         s.services[1].pins.push_back({slice_at(1, "3g.40gb", 4)});
         std::erase_if(s.services[1].table.points,
                       [](const PerformancePoint& point) { return point.profile == "3g.40gb"; });
         s.services[1].retraining.emplace().time_on = {{3, Micros::seconds(4)}, {4, Micros::seconds(3)}};
       },
       {"b.pins"},
       "gpu-1: wanted at most one pinned slice on which b can only retrain (b.pins), found 4g.40gb@0 on gpu-1 and "
       "3g.40gb@4"},
      {"a variant serves there",
       [](Scenario& s) {
         s.services[1].pins.push_back({slice_at(1, "4g.40gb", 0)});
         s.services[1].variants.push_back({});
         s.services[1].variants[0].table.points = {s.services[1].table.points[0]};
         s.services[1].variants[0].table.points[0].profile = "4g.40gb";
       },
       {},
       ""},
      {"too slow there",
       [](Scenario& s) {
         s.services[0].target_ms = Decimal(999, 100);  // a 1g takes 10 ms
       },
       {"a.pins"},
       "gpu-0: wanted a slice that a can serve or retrain on (a.pins), found 1g.10gb@0"},
  };
  for (const Case& each : cases) {
    Scenario scenario = two_gpus();
    scenario.services[0].pins = {{slice_at(0, "1g.10gb", 0)}};
    scenario.services[1].pins = {{slice_at(0, "2g.20gb", 2)}};
    each.change(scenario);
    const auto found = find_static_conflict(scenario);
    EXPECT_EQ(found ? names_of(scenario, found->constraints) : Names{}, each.names) << each.name;
    EXPECT_EQ(found ? to_text(scenario, found->as_conflict()) : "", each.why) << each.name;
    if (!found) continue;
    // It is a conflict, and without any one of its constraints there is none.
    EXPECT_TRUE(find_static_conflict(with_only(scenario, found->constraints)).has_value()) << each.name;
    for (std::size_t i = 0; i < found->constraints.size(); ++i) {
      Ids rest = found->constraints;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(find_static_conflict(with_only(scenario, rest)).has_value()) << each.name;
    }
  }
}

}  // namespace
}  // namespace berth
