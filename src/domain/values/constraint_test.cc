#include "domain/values/constraint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "domain/values/scenario.h"

namespace berth {
namespace {

TEST(Constraint, HasANameAndAPlaceInTheOrder) {
  Scenario scenario;
  scenario.services.resize(2);
  scenario.services[0].name = "a.b";  // a name is no part of the identity
  scenario.services[1].name = "c";
  std::vector<ConstraintId> all = {kFrozenConstraint,
                                   constraint_of({1}, ConstraintKind::kChangesPerHour),
                                   constraint_of({1}, ConstraintKind::kFloor),
                                   constraint_of({0}, ConstraintKind::kTrustDomain),
                                   constraint_of({0}, ConstraintKind::kIsolation),
                                   constraint_of({0}, ConstraintKind::kPins)};
  std::ranges::sort(all);
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const ConstraintId& id : all) names.push_back(constraint_name(scenario, id));
  EXPECT_EQ(names, (std::vector<std::string>{"a.b.pins", "a.b.isolation", "a.b.trust_domain", "c.floor",
                                             "c.changes_per_hour", "frozen"}));
}

TEST(Constraint, WithANameOfItsServiceItIsReadWithoutTheScenario) {
  Scenario scenario;
  scenario.services.resize(2);
  scenario.services[1].name = "c.pins";
  const NamedConstraint floor = named(scenario, constraint_of({1}, ConstraintKind::kFloor));
  EXPECT_EQ(floor, (NamedConstraint{"c.pins", ConstraintKind::kFloor}));
  EXPECT_EQ(constraint_names({floor, {"c", ConstraintKind::kTrustDomain}}),
            (std::vector<std::string>{"c.pins.floor", "c.trust_domain"}));
}

}  // namespace
}  // namespace berth
