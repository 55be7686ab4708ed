#include "gpu/health/gpu_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace berth::health {
namespace {

constexpr GpuId kGpu{3};

class GpuHealthTest : public ::testing::Test {
 protected:
  std::optional<HealthDecision> xid(std::uint64_t code, std::int64_t second, GpuId gpu = kGpu,
                                    const std::string& slice = "", std::string_view action = "none") {
    return book_.on_xid(
        {.gpu = gpu, .xid = code, .slice = slice, .recovery_action = action, .at = Instant::at_second(second)});
  }

  HealthBook book_{built_in_xid_policy(), 60};
};

TEST_F(GpuHealthTest, IgnoredErrorsChangeNothing) {
  EXPECT_FALSE(xid(63, 1).has_value());
  EXPECT_EQ(book_.state(kGpu), HealthState::kOk);
}

TEST_F(GpuHealthTest, WatchedGpusAreSuspectUntilTheyAreQuiet) {
  const auto suspect = xid(4711, 1);
  ASSERT_TRUE(suspect.has_value());
  EXPECT_EQ(suspect->to, HealthState::kSuspect);
  EXPECT_EQ(suspect->reason, "XID 4711; unknown to the policy of 2025-10: watch");
  EXPECT_FALSE(xid(4712, 500).has_value());
  EXPECT_TRUE(book_.on_time(Instant::at_second(1099)).empty());
  const auto quiet = book_.on_time(Instant::at_second(1100));
  ASSERT_EQ(quiet.size(), 1U);
  EXPECT_EQ(quiet.front().to, HealthState::kOk);
}

TEST_F(GpuHealthTest, FatalErrorsDrainThenQuarantineUntilUncordoned) {
  const auto draining = xid(79, 1);
  ASSERT_TRUE(draining.has_value());
  EXPECT_EQ(draining->order, HealthOrder::kDrain);
  EXPECT_EQ(draining->reason, "XID 79 (the GPU has fallen off the bus); policy of 2025-10: drain");
  EXPECT_FALSE(xid(79, 2).has_value());
  EXPECT_EQ(book_.on_drained(kGpu, Instant::at_second(3))->to, HealthState::kQuarantined);
  EXPECT_FALSE(xid(79, 4).has_value());
  EXPECT_TRUE(book_.on_time(Instant::at_second(9999)).empty());
  EXPECT_EQ(book_.on_uncordoned(kGpu, Instant::at_second(10'000))->to, HealthState::kOk);
  EXPECT_EQ(book_.state(kGpu), HealthState::kOk);
}

TEST_F(GpuHealthTest, ErrorsForPeopleCordon) {
  const auto cordoned = xid(74, 1);
  ASSERT_TRUE(cordoned.has_value());
  EXPECT_EQ(cordoned->order, HealthOrder::kCordon);
  EXPECT_EQ(cordoned->to, HealthState::kQuarantined);
  EXPECT_EQ(xid(79, 2)->order, HealthOrder::kDrain);  // its slices had stayed
}

TEST_F(GpuHealthTest, TheDriverPrecedesThePolicy) {
  const auto draining = xid(63, 1, kGpu, "", "gpu_reset");
  ASSERT_TRUE(draining.has_value());
  EXPECT_EQ(draining->order, HealthOrder::kDrain);
  EXPECT_THAT(draining->reason, testing::HasSubstr("the driver asks for gpu_reset"));
  EXPECT_EQ(book_.on_recovery_action({7}, "recover_imex_domain", Instant::at_second(2))->order, HealthOrder::kCordon);
  EXPECT_FALSE(book_.on_recovery_action({8}, "none", Instant::at_second(2)).has_value());
}

TEST_F(GpuHealthTest, ProgramsRestartOnceInTenSeconds) {
  const auto restart = xid(31, 100, kGpu, "gpu-3-1g.10gb-2");
  ASSERT_TRUE(restart.has_value());
  EXPECT_EQ(restart->order, HealthOrder::kRestartApp);
  EXPECT_EQ(restart->slice, "gpu-3-1g.10gb-2");
  EXPECT_EQ(book_.state(kGpu), HealthState::kOk);
  EXPECT_FALSE(xid(13, 109, kGpu, "gpu-3-1g.10gb-2").has_value());
  EXPECT_TRUE(xid(31, 109, kGpu, "gpu-3-1g.10gb-3").has_value());
  EXPECT_TRUE(xid(31, 110, kGpu, "gpu-3-1g.10gb-2").has_value());
}

TEST_F(GpuHealthTest, ErrorsOfProgramsWithoutASliceAreWatched) { EXPECT_EQ(xid(31, 1)->to, HealthState::kSuspect); }

TEST_F(GpuHealthTest, TheBreakerDrainsATenthAndCordonsTheRest) {
  int drained = 0;
  int cordoned = 0;
  int tripped = 0;
  for (std::uint32_t index = 0; index < 12; ++index) {
    const auto decision = xid(48, 5, {index});
    ASSERT_TRUE(decision.has_value());
    drained += decision->order == HealthOrder::kDrain ? 1 : 0;
    cordoned += decision->order == HealthOrder::kCordon ? 1 : 0;
    tripped += decision->has_tripped_breaker ? 1 : 0;
  }
  EXPECT_EQ(drained, 6);
  EXPECT_EQ(cordoned, 6);
  EXPECT_EQ(tripped, 1);
  EXPECT_EQ(book_.drains_left(Instant::at_second(604)), 0);
  EXPECT_EQ(book_.drains_left(Instant::at_second(605)), 6);
  EXPECT_EQ(xid(48, 605, {11})->order, HealthOrder::kDrain);
}

TEST_F(GpuHealthTest, SmallFleetsDrainOne) {
  HealthBook small(built_in_xid_policy(), 2);
  EXPECT_EQ(small.on_xid({.gpu = {0}, .xid = 79})->order, HealthOrder::kDrain);
  EXPECT_EQ(small.on_xid({.gpu = {1}, .xid = 79})->order, HealthOrder::kCordon);
}

TEST_F(GpuHealthTest, StatesOfAnEarlierProcessCount) {
  HealthBook small(built_in_xid_policy(), 2);
  small.adopt({0}, HealthState::kDraining, Instant::at_second(1));
  EXPECT_EQ(small.on_xid({.gpu = {1}, .xid = 79, .at = Instant::at_second(600)})->order, HealthOrder::kCordon);
  EXPECT_EQ(small.on_xid({.gpu = {1}, .xid = 79, .at = Instant::at_second(601)})->order, HealthOrder::kDrain);
}

TEST(XidBursts, CountsAreExact) {
  XidBursts bursts;
  EXPECT_EQ(bursts.note(kGpu, 31, 3, Instant::at_second(1)), "XID 31, 3 times");
  EXPECT_EQ(bursts.note(kGpu, 32, 1, Instant::at_second(1)), "XID 32");
  for (std::int64_t second = 2; second < 70; ++second) {
    EXPECT_FALSE(bursts.note(kGpu, 31, 1000, Instant::at_second(second)).has_value());
    const auto ended = bursts.take(Instant::at_second(second));
    ASSERT_EQ(ended.size(), second == 61 ? 1U : 0U) << second;
    if (second == 61) {
      EXPECT_EQ(ended.front().text, "XID 31, 60000 more times, the last one 0 ms ago");
    }
  }
  const auto ended = bursts.take(Instant::at_second(74));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().text, "XID 31, 8000 more times, the last one 5000 ms ago");
  EXPECT_EQ(bursts.note(kGpu, 31, 1, Instant::at_second(75)), "XID 31");
}

}  // namespace
}  // namespace berth::health
