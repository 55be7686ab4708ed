#include "engine/loop/warm_pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::held;
using testing::slice_at;

/// A cold start costs ten cents.
WarmPool dime_pool() {
  WarmPool pool;
  pool.cold_micro_usd = 100'000;
  return pool;
}

/// Service a has a pool; what it should have stands at once.
class WarmWorld {
 public:
  explicit WarmWorld(const WarmPool& pool = dime_pool()) {
    scenario_.fleet[0].usd_per_gpu_hour = Decimal(8);  // a 1g costs $1 per hour
    scenario_.services[0].ready.warm_pool = pool;
    scenario_.services[0].start = Micros::seconds(5);
    pools_ = std::make_unique<WarmPools>(scenario_, true);
    snapshot_.has_first_layout = true;
    snapshot_.services.resize(2);
  }

  /// Ten requests in the first second of each of these minutes, until the end of minute `until`.
  void run(const std::vector<std::int64_t>& minutes, std::int64_t until) {
    for (; second_ < 60 * (until + 1); ++second_) {
      snapshot_.now = Instant::at_second(second_);
      if (second_ > 0) see(second_ - 1, minutes);
      for (WarmDecision& decision : pools_->decide(snapshot_)) decisions_.push_back(std::move(decision));
      stand();
    }
  }

  [[nodiscard]] const WarmStatus& status() const { return *pools_->status_of({0}); }
  [[nodiscard]] ReplicaLimits limits() const { return pools_->limits({0}); }
  [[nodiscard]] const std::vector<WarmDecision>& decisions() const { return decisions_; }
  [[nodiscard]] WarmPools& pools() { return *pools_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

 private:
  void see(std::int64_t second, const std::vector<std::int64_t>& minutes) {
    ServiceSecond seen;
    seen.service = {0};
    seen.second = second;
    const bool has_burst = second % 60 == 0 && std::ranges::find(minutes, second / 60) != minutes.end();
    seen.arrivals = has_burst ? 10 : 0;
    seen.in_time = seen.arrivals;
    snapshot_.services[0].seconds.push_back(seen);
  }
  void stand() {
    snapshot_.slices = {};
    const Slice slice = slice_at(0, "1g.10gb", 0);
    if (limits().slices_max != 0) snapshot_.slices = {{.holding = held(slice, {{0}}), .is_ready = true}};
  }

  Scenario scenario_ = testing::two_gpus();
  std::unique_ptr<WarmPools> pools_;
  Snapshot snapshot_;
  std::vector<WarmDecision> decisions_;
  std::int64_t second_ = 0;
};

std::vector<std::int64_t> every(std::int64_t minutes, int count) {
  std::vector<std::int64_t> bursts;
  for (int i = 0; i < count; ++i) bursts.push_back(5 + i * minutes);
  return bursts;
}

TEST(WarmPools, WithoutRequestsAServiceIsCold) {
  WarmWorld world;
  world.run({}, 30);
  ASSERT_EQ(world.decisions().size(), 1U);
  EXPECT_EQ(world.status().last.phase, WarmPhase::kCold);
  EXPECT_EQ(world.limits(), (ReplicaLimits{.slices_min = 0, .slices_max = 0}));
  EXPECT_EQ(world.status().idle_micro_usd, 0);
  EXPECT_EQ(world.status().last.reason, "no gap between requests was seen; a cold start costs $0.1, waiting $0.0167");
}

TEST(WarmPools, ARegularGapIsMetByAPreload) {
  WarmWorld world;  // a cold start is worth six idle minutes
  const std::vector<std::int64_t> bursts = every(40, 8);
  world.run(bursts, 320);
  const std::int64_t before = world.status().cold_starts;
  EXPECT_LE(before, 3);
  EXPECT_GE(world.status().hits, 4);
  EXPECT_GE(world.status().preloads, world.status().hits);
  bool has_words = false;
  for (const WarmDecision& decision : world.decisions()) {
    const bool is_late = decision.is_preload && decision.at > Instant::at_second(60 * 200);
    has_words = has_words || (is_late && decision.reason.starts_with("gap 40 to 40 minutes in "));
  }
  EXPECT_TRUE(has_words);
  // Two minutes around each burst, not forty.
  EXPECT_LT(world.status().idle_micro_usd, 8 * 12 * 16'667);
}

TEST(WarmPools, SlicesOfMinAreKept) {
  WarmWorld world({.slices_min = 2, .slices_max = 2, .cold_micro_usd = {}, .idle_micro_usd_per_hour = {}});
  world.run({}, 3);
  EXPECT_EQ(world.status().last.phase, WarmPhase::kWarm);
  EXPECT_EQ(world.limits(), (ReplicaLimits{.slices_min = 2, .slices_max = 2}));
  world.run({5}, 5);
  EXPECT_EQ(world.limits(), (ReplicaLimits{.slices_min = 2, .slices_max = 2})) << "kept again once it is quiet";
}

TEST(WarmPools, AnHourCostsAtMostWhatItMay) {
  const WarmPool pool{.slices_min = 0,
                      .slices_max = {},
                      .cold_micro_usd = 100'000'000,  // worth keeping all day
                      .idle_micro_usd_per_hour = 250'000};
  WarmWorld world(pool);
  world.run({5}, 245);
  EXPECT_GT(world.status().idle_micro_usd, 500'000);
  EXPECT_LE(world.status().idle_micro_usd, 5 * 250'000);
  WarmWorld free({.slices_min = 0, .slices_max = {}, .cold_micro_usd = 100'000'000, .idle_micro_usd_per_hour = {}});
  free.run({5}, 245);
  EXPECT_GT(free.status().idle_micro_usd, 3'000'000);
}

TEST(WarmPools, WhatWasLearnedComesBack) {
  WarmWorld world;
  world.run(every(20, 6), 120);
  ArchiveWriter writer;
  world.pools().save(writer);
  WarmPools again(world.scenario(), true);
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  again.load(reader);
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(*again.status_of({0}), world.status());
  Snapshot later = world.snapshot();
  for (int i = 1; i < 1500; ++i) {
    later.now = Instant::at_second(120 * 60 + 59 + i);
    EXPECT_EQ(again.decide(later), world.pools().decide(later)) << i;
  }
}

TEST(WarmPools, NobodyElseHasOne) {
  WarmWorld world;
  EXPECT_EQ(world.pools().services(), std::vector<ServiceId>({{0}}));
  EXPECT_EQ(world.pools().status_of({1}), nullptr);
  const WarmPools off(world.scenario(), false);
  EXPECT_FALSE(off.is_used());
}

}  // namespace
}  // namespace berth
