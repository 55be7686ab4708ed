#include "gpu/nvml_sim/placement_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::nvml_sim {
namespace {

using testing::create_anywhere;
using testing::gpu_of;

/// Profiles in the order of their creation, each with the unit where the driver puts it; -1: it does not fit.
using Sequence = std::vector<std::pair<std::string, int>>;

void expect_sequence(std::string_view model, const Sequence& sequence) {
  GpuRecord gpu = gpu_of(model);
  std::string so_far;
  for (const auto& [profile, start] : sequence) {
    EXPECT_EQ(create_anywhere(gpu, profile), start) << profile << " after" << so_far;
    so_far += " " + profile;
  }
}

// Listings and known issues of NVIDIA's MIG User Guide.
TEST(PlacementChoice, IsWhatTheGuideListsForAnA100) {
  const auto expect = [](const Sequence& sequence) { expect_sequence("A100-40GB", sequence); };
  expect({{"1g.5gb", 6},
          {"1g.5gb", 4},
          {"1g.5gb", 5},
          {"1g.5gb", 0},
          {"1g.5gb", 1},
          {"1g.5gb", 2},
          {"1g.5gb", 3},
          {"1g.5gb", -1}});
  expect({{"2g.10gb", 4}, {"2g.10gb", 0}, {"2g.10gb", 2}, {"2g.10gb", -1}});
  expect({{"4g.20gb", 0}, {"3g.20gb", 4}, {"1g.5gb", -1}});
  expect({{"3g.20gb", 4}, {"3g.20gb", 0}, {"1g.5gb", -1}});
  expect({{"7g.40gb", 0}, {"1g.5gb", -1}});
}

TEST(PlacementChoice, DependsOnTheOrder) {
  expect_sequence("A100-40GB", {{"1g.5gb", 6}, {"1g.5gb", 4}, {"2g.10gb", 0}, {"3g.20gb", -1}});
  expect_sequence("A100-40GB", {{"3g.20gb", 4}, {"1g.5gb", 0}, {"2g.10gb", 2}, {"1g.5gb", 1}});
}

TEST(PlacementChoice, FollowsTheSameRuleOnModelsThatNobodyListed) {
  expect_sequence("A30-24GB", {{"1g.6gb", 0}, {"1g.6gb", 1}, {"2g.12gb", 2}, {"1g.6gb", -1}});
  expect_sequence("RTX-PRO-6000-Blackwell-96GB", {{"2g.48gb", 0}, {"1g.24gb", 6}, {"1g.24gb", 9}, {"1g.24gb", -1}});
}

TEST(PlacementChoice, MediaEnginesAreOneBudget) {
  expect_sequence("A100-40GB", {{"1g.5gb+me", 6}, {"1g.5gb+me", -1}, {"1g.5gb", 4}});
}

TEST(PlacementChoice, EnginesAreGivenOnce) {
  expect_sequence("RTX-PRO-6000-Blackwell-96GB",
                  {{"1g.24gb+me.all", 0}, {"1g.24gb", -1}, {"1g.24gb-me", 3}, {"2g.48gb", -1}, {"2g.48gb-me", 6}});
}

TEST(PlacementChoice, BeforeR510FourAndThreeSlicesExclude) {
  GpuRecord gpu = gpu_of("A100-40GB");
  gpu.is_before_r510 = 1;
  EXPECT_EQ(create_anywhere(gpu, "4g.20gb"), 0);
  EXPECT_EQ(create_anywhere(gpu, "3g.20gb"), -1);
}

// The device creates whatever the geometry allows, except for media engines, which the geometry counts only in part.
TEST(PlacementChoice, EnginesTakeNothingAwayFromPlainLayouts) {
  for (const GpuModel& model : mig::gpu_models()) {
    if (!model.is_mig_capable()) continue;
    mig::Rules rules = mig::all_rules(model);
    std::erase_if(rules.profiles, [&](ProfileId id) { return model.profiles[id.index].media == MediaEngines::kAll; });
    mig::for_each_state(model, rules, [&](const mig::State& state) {
      for (const ProfileId profile : rules.profiles) {
        mig::Rules one = rules;
        one.profiles = {profile};
        EXPECT_EQ(fitting_placements(model, state, profile, false), mig::placements_that_fit(model, state, one))
            << model.name << " " << mig::to_string(model, state) << " and " << profile_name(model, profile);
      }
    });
  }
}

}  // namespace
}  // namespace berth::nvml_sim
