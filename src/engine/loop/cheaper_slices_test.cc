#include "engine/loop/cheaper_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/core/rng.h"
#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

const GpuModel& a100() {
  static const GpuModel model = *mig::find_gpu_model("A100-80GB");
  return model;
}
ProfileId profile_of(std::string_view name) { return *mig::find_profile(a100(), name); }
PricedProfile priced(std::string_view name, double per_second, double usd) {
  return {.profile = profile_of(name), .per_second = per_second, .usd_per_hour = usd};
}
std::vector<ProfileId> profiles_of(std::initializer_list<std::string_view> names) {
  std::vector<ProfileId> profiles;
  for (const auto name : names) profiles.push_back(profile_of(name));
  return profiles;
}

TEST(CheaperSlices, SetsComeTheCheapestFirst) {
  const std::vector<PricedProfile> profiles = {priced("1g.10gb", 100, 1), priced("3g.40gb", 350, 3)};
  const auto sets = sets_for(profiles, 400, 100);
  ASSERT_EQ(sets.size(), 4U);
  EXPECT_EQ(sets[0], profiles_of({"3g.40gb", "1g.10gb"})) << "4 USD, as four small ones, but fewer slices";
  EXPECT_EQ(sets[1], profiles_of({"1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"}));
  EXPECT_EQ(sets_for(profiles, 400, 3.9).size(), 0U);
  EXPECT_EQ(sets_for(profiles, 0, 1), std::vector({profiles_of({"1g.10gb"})})) << "a set is never empty";
  EXPECT_TRUE(sets_for({}, 400, 100).empty());
}

TEST(CheaperSlices, SetsCarryTheRateWithinTheCost) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<PricedProfile> profiles;
    for (const char* name : {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"}) {
      if (rng.below(4) == 0) continue;
      profiles.push_back(priced(name, 1 + static_cast<double>(rng.below(400)), 1 + static_cast<double>(rng.below(9))));
    }
    const auto wanted = static_cast<double>(rng.below(1500));
    const auto usd_max = static_cast<double>(rng.below(30));
    double before = 0;
    for (const auto& set : sets_for(profiles, wanted, usd_max)) {
      double rate = 0;
      double usd = 0;
      for (const ProfileId profile : set) {
        const auto& offer = *std::ranges::find(profiles, profile, &PricedProfile::profile);
        rate += offer.per_second;
        usd += offer.usd_per_hour;
      }
      EXPECT_GE(rate, wanted);
      EXPECT_LE(usd, usd_max);
      EXPECT_LE(before, usd);
      before = usd;
    }
  }
}

TEST(CheaperSlices, AProfileIsDearIfCheaperOnesOnOneGpuCarryAsMuch) {
  // A 7g at 7 USD that is as fast as four of 1g at 1 USD.
  EXPECT_EQ(dear_profiles(a100(), std::vector{priced("1g.10gb", 100, 1), priced("7g.80gb", 400, 7)}, 0.1),
            profiles_of({"7g.80gb"}));
  // Eight of them would do, too, but do not fit on one GPU.
  EXPECT_TRUE(dear_profiles(a100(), std::vector{priced("1g.10gb", 100, 0.5), priced("7g.80gb", 800, 7)}, 0.1).empty());
  // Less than the saving that counts.
  EXPECT_TRUE(dear_profiles(a100(), std::vector{priced("1g.10gb", 100, 1), priced("7g.80gb", 650, 7)}, 0.1).empty());
  // Two of 4g never fit, one of 4g and one of 3g do.
  EXPECT_TRUE(dear_profiles(a100(), std::vector{priced("4g.40gb", 200, 1), priced("7g.80gb", 400, 7)}, 0.1).empty());
  EXPECT_EQ(dear_profiles(a100(), std::vector{priced("3g.40gb", 200, 1), priced("7g.80gb", 400, 7)}, 0.1),
            profiles_of({"7g.80gb"}));
}

struct FreeWorld {
  Scenario scenario = testing::two_gpus();
  Snapshot snapshot;
  Plan plan;

  FreeWorld() {
    snapshot.now = Instant::at_second(100);
    snapshot.services.resize(2);
    snapshot.slices = {{.holding = held(slice_at(1, "3g.40gb", 0), {{1}}), .is_ready = true}};
  }
  [[nodiscard]] std::optional<std::vector<Slice>> places(std::initializer_list<std::string_view> names) const {
    return free_places(scenario, snapshot, plan, {0}, "A100-80GB", profiles_of(names));
  }
};

TEST(CheaperSlices, PlacesAreOnTheFullestGpuThatHasRoom) {
  FreeWorld world;
  EXPECT_EQ(world.places({"3g.40gb", "3g.40gb"}), std::vector({slice_at(1, "3g.40gb", 4), slice_at(0, "3g.40gb", 0)}));
  EXPECT_EQ(world.places({"3g.40gb", "3g.40gb", "3g.40gb", "3g.40gb"}), std::nullopt);
  world.plan.actions = {testing::create(slice_at(1, "3g.40gb", 4))};
  EXPECT_EQ(world.places({"3g.40gb"}), std::vector({slice_at(0, "3g.40gb", 0)}));
  EXPECT_EQ(free_places(world.scenario, world.snapshot, world.plan, {0}, "H100-80GB", profiles_of({"3g.40gb"})),
            std::nullopt);
}

}  // namespace
}  // namespace berth
