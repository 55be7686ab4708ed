#include "engine/loop/retraining_watch.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

/// Service a retrains every 100 s, for 40 s on 1g and 20 s on 3g; b never does.
struct Watched {
  Scenario scenario = testing::two_gpus();
  Slice small = slice_at(0, "1g.10gb", 0);
  Slice large = slice_at(0, "3g.40gb", 4);
  std::vector<StandingSlice> slices;

  Watched() {
    Retraining retraining;
    retraining.every = Micros::seconds(100);
    retraining.time_on = {{1, Micros::seconds(40)}, {3, Micros::seconds(20)}};
    scenario.services[0].retraining = retraining;
  }
  [[nodiscard]] Retraining& retraining() { return *scenario.services[0].retraining; }

  void stand(const Slice& slice, Role role, bool is_ready = true, bool is_leaving = false) {
    slices = {
        {.holding = held(slice, {{0}}, role), .point = std::nullopt, .is_ready = is_ready, .is_leaving = is_leaving}};
  }
  [[nodiscard]] Snapshot at(std::int64_t micros, bool is_stale) const {
    Snapshot snapshot;
    snapshot.now = Instant(micros);
    snapshot.slices = slices;
    snapshot.services.resize(2);
    snapshot.services[0].is_retraining_due = is_stale;
    return snapshot;
  }
};

constexpr std::int64_t kSecond = 1'000'000;
constexpr ServiceId kA{0};

Instant second(std::int64_t second) { return Instant::at_second(second); }

TEST(RetrainingWatch, ProgressGrowsOnAReadySliceByItsSize) {
  Watched world;
  RetrainingWatch watch(world.scenario);
  world.stand(world.small, Role::kRetraining);
  watch.observe(world.at(0, true));
  EXPECT_TRUE(watch.at(kA, second(0)).is_stale);
  EXPECT_EQ(watch.at(kA, second(0)).progress, 0);
  EXPECT_NEAR(watch.at(kA, second(10)).progress, 0.25, 1e-12);  // if nothing changes until then
  world.stand(world.large, Role::kRetraining);
  watch.observe(world.at(10 * kSecond, true));
  EXPECT_NEAR(watch.at(kA, second(10)).progress, 0.25, 1e-12);
  EXPECT_NEAR(watch.at(kA, second(15)).progress, 0.5, 1e-12);
  watch.observe(world.at(12'500'000, true));
  world.slices.clear();  // progress is kept while it waits
  watch.observe(world.at(15 * kSecond, true));
  watch.observe(world.at(30 * kSecond, true));
  EXPECT_NEAR(watch.at(kA, second(40)).progress, 0.5, 1e-12);
  EXPECT_FALSE(watch.at({1}, second(40)).is_stale);
}

TEST(RetrainingWatch, OnlyWhatRetrainsCounts) {
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    Watched world;
    world.stand(world.small, which == 0 ? Role::kInference : Role::kRetraining, which != 1, which == 2);
    RetrainingWatch watch(world.scenario);
    watch.observe(world.at(0, which != 3));
    watch.observe(world.at(10 * kSecond, true));
    EXPECT_EQ(watch.at(kA, second(10)).progress, 0);
  }
}

TEST(RetrainingWatch, WhatIsDoneIsFreshAfterItsSwap) {
  Watched world;
  world.retraining().swap = Micros::seconds(8);
  RetrainingWatch watch(world.scenario);
  world.stand(world.large, Role::kRetraining);
  watch.observe(world.at(0, true));
  watch.observe(world.at(20 * kSecond, false));
  EXPECT_FALSE(watch.at(kA, second(20)).is_stale);
  EXPECT_EQ(watch.at(kA, second(20)).fresh_in, Micros::seconds(8));
  EXPECT_EQ(watch.at(kA, second(26)).fresh_in, Micros::seconds(2));
  EXPECT_EQ(watch.at(kA, second(28)).fresh_in, Micros());
  EXPECT_EQ(watch.at(kA, second(99)).progress, 0);
  // The slice stays, and has nothing to do until the next retraining is due.
  watch.observe(world.at(99 * kSecond, false));
  EXPECT_EQ(watch.at(kA, second(99)).progress, 0);
  EXPECT_TRUE(watch.at(kA, second(100)).is_stale);
  EXPECT_EQ(watch.at(kA, second(100)).fresh_in, Micros());
  watch.observe(world.at(100 * kSecond, true));
  EXPECT_EQ(watch.at(kA, second(100)).progress, 0);
  EXPECT_NEAR(watch.at(kA, second(110)).progress, 0.5, 1e-12);
}

TEST(RetrainingWatch, WhatIsUnfinishedWhenTheNextIsDueIsLostUnlessItIsKept) {
  for (const bool keeps : {false, true}) {
    SCOPED_TRACE(keeps);
    Watched world;
    world.retraining().keeps_unfinished = keeps;
    RetrainingWatch watch(world.scenario);
    world.stand(world.small, Role::kRetraining);
    watch.observe(world.at(80 * kSecond, true));
    watch.observe(world.at(90 * kSecond, true));
    EXPECT_NEAR(watch.at(kA, second(99)).progress, 19.0 / 40, 1e-12);
    // Asked for an instant after the due time, then informed of it.
    EXPECT_NEAR(watch.at(kA, second(100)).progress, keeps ? 0.5 : 0, 1e-12);
    EXPECT_TRUE(watch.at(kA, second(100)).is_stale);
    watch.observe(world.at(100 * kSecond, true));
    EXPECT_NEAR(watch.at(kA, second(100)).progress, keeps ? 0.5 : 0, 1e-12);
    EXPECT_NEAR(watch.at(kA, second(110)).progress, keeps ? 0.75 : 0.25, 1e-12);
  }
}

TEST(RetrainingWatch, OneThatIsDoneWithinTheSecondBeforeTheNextIsDueLeavesNothing) {
  Watched world;
  world.retraining().keeps_unfinished = true;
  RetrainingWatch watch(world.scenario);
  world.stand(world.small, Role::kRetraining);
  watch.observe(world.at(59'500'000, true));
  watch.observe(world.at(99 * kSecond, true));
  // Done at 99.5, due again at 100: stale both times, but another retraining.
  watch.observe(world.at(100 * kSecond, true));
  EXPECT_TRUE(watch.at(kA, second(100)).is_stale);
  EXPECT_LT(watch.at(kA, second(100)).progress, 0.1);
}

TEST(RetrainingWatch, BeforeTheFirstDueTimeNothingIsStale) {
  Watched world;
  world.retraining().offset = Micros::seconds(30);
  RetrainingWatch watch(world.scenario);
  world.stand(world.small, Role::kRetraining);
  watch.observe(world.at(0, false));
  EXPECT_FALSE(watch.at(kA, second(29)).is_stale);
  EXPECT_TRUE(watch.at(kA, second(30)).is_stale);
  EXPECT_EQ(watch.at(kA, second(30)).progress, 0);
}

}  // namespace
}  // namespace berth
