// The registry: every policy can be made, and its row is right about its knowledge and whether it replans.
#include "engine/policy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace berth::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(Registry, NamesAreUniqueAndInTheOrderInWhichTheyAreShown) {
  EXPECT_THAT(names(), ElementsAre("fixed", "shared", "whole", "static-even", "static-best", "paris", "ekya", "astraea",
                                   "migrator", "berth", "clairvoyant"));
  const std::set<std::string> unique(names().begin(), names().end());
  EXPECT_EQ(unique.size(), policies().size());
}

TEST(Registry, FindsByNameOnly) {
  ASSERT_NE(find_policy("paris"), nullptr);
  EXPECT_EQ(find_policy("paris")->name, "paris");
  EXPECT_EQ(find_policy("Paris"), nullptr);
  EXPECT_EQ(find_policy(""), nullptr);
}

TEST(Registry, OnlyTheLayoutOfTheFileCannotBeSized) {
  EXPECT_THAT(sizable_names(), Not(Contains("fixed")));
  EXPECT_EQ(sizable_names().size() + 1, names().size());
}

TEST(Registry, ReferencesAreWhatMostTeamsDo) { EXPECT_THAT(reference_names(), ElementsAre("shared", "whole")); }

TEST(Registry, ThePlannerStopsReplanningWithItsSetting) {
  Settings settings;
  for (const char* name : {"berth", "clairvoyant"}) {
    settings.berth.recuts = 1;
    EXPECT_TRUE(policy_named(name).replans(settings)) << name;
    settings.berth.recuts = 0;
    EXPECT_FALSE(policy_named(name).replans(settings)) << name;
  }
  EXPECT_FALSE(policy_named("paris").replans(settings));
  EXPECT_TRUE(policy_named("ekya").replans(settings));
}

/// A policy that is not marked as hindsight is made without the arrivals of the run and without trials.
TEST(Registry, OnlyHindsightReadsWhatLiesAhead) {
  Scenario scenario;
  const Settings settings;
  for (const Policy& row : policies()) {
    if (row.is_hindsight()) continue;
    const MadePolicy made = row.make({.scenario = scenario, .settings = settings});
    EXPECT_FALSE(made.stages.empty()) << row.name;
  }
}

TEST(Registry, EveryFormOfSharingIsThere) {
  for (const Policy& row : policies()) EXPECT_FALSE(row.sharings.empty()) << row.name;
  EXPECT_EQ(policy_named("shared").sharings.size(), 2U);
}

TEST(RegistryDeathTest, AnUnknownNameEndsTheProgram) { EXPECT_DEATH((void)policy_named("no-such"), "row"); }

}  // namespace
}  // namespace berth::policy
