#include "state/cluster_state.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth {
namespace {

const Slice kA{.gpu = {0}, .start = 0, .profile = {1}};
const Slice kB{.gpu = {0}, .start = 4, .profile = {2}};

Plan plan_of(std::vector<decltype(Action::what)> whats) {
  Plan plan;
  for (auto& what : whats) plan.actions.push_back({.what = std::move(what), .reason = {}});
  return plan;
}

AssignSlice given(const Slice& slice, std::vector<ServiceId> services, Role role = Role::kInference) {
  return {.holding = {.slice = slice, .role = role, .services = std::move(services)}, .point = {}};
}

Event event(decltype(Event::what) what) { return {.at = Instant(1), .what = std::move(what)}; }

ServiceSecond seen(std::uint32_t service, std::int64_t second) {
  ServiceSecond made;
  made.service = {service};
  made.second = second;
  return made;
}

TEST(ClusterState, TheVersionGrowsWithEventsOnly) {
  ClusterState state(1, 10);
  EXPECT_EQ(state.snapshot().version, 0U);
  state.apply(event(seen(0, 0)));
  state.apply(event(SliceGone{kA}));
  EXPECT_EQ(state.snapshot().version, 2U);
  state.apply(plan_of({CreateSlice{kA}}), Instant(1));
  state.set_now(Instant(7));
  EXPECT_EQ(state.snapshot().version, 2U);
  EXPECT_EQ(state.snapshot().now, Instant(7));
}

TEST(ClusterState, KeepsTheLatestSecondsOfEachService) {
  ClusterState state(2, 3);
  for (std::int64_t second = -2; second < 4; ++second) state.apply(event(seen(0, second)));
  state.apply(event(seen(1, 9)));
  const auto& services = state.snapshot().services;
  ASSERT_EQ(services[0].seconds.size(), 3U);
  EXPECT_EQ(services[0].seconds.front().second, 1);
  EXPECT_EQ(services[0].seconds.back().second, 3);
  EXPECT_EQ(services[1].seconds.size(), 1U);
  ClusterState forgetful(1, 0);
  forgetful.apply(event(seen(0, 0)));
  EXPECT_TRUE(forgetful.snapshot().services[0].seconds.empty());
}

TEST(ClusterState, ASliceComesIsGivenAndGoes) {
  ClusterState state(1, 10);
  state.apply(plan_of({CreateSlice{kB}, CreateSlice{kA}, given(kA, {{0}})}), Instant(1));
  const auto& slices = state.snapshot().slices;
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].holding, given(kA, {{0}}).holding);  // sorted by slice
  EXPECT_FALSE(slices[0].is_ready);
  EXPECT_TRUE(slices[1].holding.services.empty());

  state.apply(event(SliceReady{kA}));
  EXPECT_TRUE(slices[0].is_ready);
  state.apply(plan_of({given(kA, {{0}}, Role::kRetraining)}), Instant(1));
  EXPECT_FALSE(slices[0].is_ready);
  EXPECT_EQ(slices[0].holding.role, Role::kRetraining);

  state.apply(plan_of({DestroySlice{kA}}), Instant(1));
  EXPECT_TRUE(slices[0].is_leaving);
  state.apply(event(SliceReady{kA}));  // it became ready while it was leaving
  EXPECT_FALSE(slices[0].is_ready);
  state.apply(event(SliceGone{kA}));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].holding.slice, kB);
}

TEST(ClusterState, ASliceAndItsSuccessorAtTheSamePlaceAreTwo) {
  ClusterState state(1, 10);
  Plan first = plan_of({CreateSlice{kA}, given(kA, {{0}})});
  state.number(first);
  state.apply(first, Instant(1));
  state.apply(event(SliceReady{.slice = kA, .assignment = first.actions[1].number}));
  Plan second = plan_of({DestroySlice{kA}, CreateSlice{kA}, given(kA, {{0}})});
  state.number(second);
  state.apply(second, Instant(1));
  const auto& slices = state.snapshot().slices;
  ASSERT_EQ(slices.size(), 2U);
  state.apply(event(SliceGone{.slice = kA, .generation = first.actions[0].number}));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_FALSE(slices[0].is_leaving);
  EXPECT_FALSE(slices[0].is_ready);
  state.apply(event(SliceReady{.slice = kA, .assignment = second.actions[2].number}));
  EXPECT_TRUE(slices[0].is_ready);
}

TEST(ClusterState, ActionsHaveNumbersThatAreNeverUsedAgain) {
  ClusterState state(1, 10);
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    Plan plan = plan_of({CreateSlice{kA}, given(kA, {{0}})});
    state.number(plan);
    EXPECT_GT(plan.actions[0].number, last);
    EXPECT_GT(plan.actions[1].number, plan.actions[0].number);
    last = plan.actions[1].number;
    state.apply(plan, Instant(1));
    const auto& slices = state.snapshot().slices;
    ASSERT_EQ(slices.size(), 1U);
    EXPECT_EQ(slices[0].generation, plan.actions[0].number);
    EXPECT_EQ(slices[0].assignment, last);

    state.apply(event(SliceReady{.slice = kA, .assignment = last - 1}));  // for earlier holders
    EXPECT_FALSE(slices[0].is_ready);
    state.apply(event(SliceReady{.slice = kA, .assignment = last}));
    EXPECT_TRUE(slices[0].is_ready);
    state.apply(event(SliceGone{.slice = kA, .generation = last}));  // an assignment is no generation
    EXPECT_EQ(slices.size(), 1U);
    state.apply(event(SliceGone{.slice = kA, .generation = plan.actions[0].number}));
    EXPECT_TRUE(slices.empty());
  }
}

TEST(ClusterState, AGpuThatIsLostHoldsNothingUntilItReturns) {
  ClusterState state(1, 10);
  state.apply(plan_of({CreateSlice{kA}, given(kA, {{0}}), CreateSlice{kB}}), Instant(1));
  state.apply(plan_of({DestroySlice{kA}, CreateSlice{kA}}), Instant(1));
  EXPECT_TRUE(state.snapshot().is_open(kA.gpu));
  state.apply({.at = Instant(5), .what = GpuLost{.gpu = kA.gpu, .reason = "fell off the bus"}});
  const Snapshot& snapshot = state.snapshot();
  EXPECT_TRUE(std::ranges::none_of(snapshot.slices,
                                   [](const StandingSlice& standing) { return standing.holding.slice.gpu == kA.gpu; }));
  EXPECT_EQ(snapshot.gpu_state(kA.gpu).health, GpuHealth::kLost);
  EXPECT_EQ(snapshot.gpu_state(kA.gpu).health_reason, "fell off the bus");
  EXPECT_EQ(snapshot.gpu_state(kA.gpu).health_since, Instant(5));
  EXPECT_FALSE(snapshot.is_open(kA.gpu));
  EXPECT_TRUE(snapshot.is_open({kA.gpu.index + 1}));
  state.apply({.at = Instant(9), .what = GpuReturned{kA.gpu}});
  EXPECT_TRUE(snapshot.is_open(kA.gpu));
  EXPECT_EQ(snapshot.gpu_state(kA.gpu).health_since, Instant(9));
}

TEST(ClusterState, SchedulingAndHealthAreTwoFacts) {
  ClusterState state(1, 10);
  const auto schedule = [&](GpuScheduling scheduling, std::int64_t at) {
    state.apply({.at = Instant(at), .what = GpuScheduled{.gpu = kA.gpu, .scheduling = scheduling, .reason = "why"}});
  };
  schedule(GpuScheduling::kCordoned, 1);
  state.apply({.at = Instant(2), .what = GpuLost{.gpu = kA.gpu}});
  state.apply({.at = Instant(3), .what = GpuReturned{kA.gpu}});
  EXPECT_EQ(state.snapshot().gpu_state(kA.gpu).scheduling, GpuScheduling::kCordoned);
  EXPECT_EQ(state.snapshot().gpu_state(kA.gpu).scheduling_since, Instant(1));
  EXPECT_FALSE(state.snapshot().is_open(kA.gpu));
  schedule(GpuScheduling::kOpen, 4);
  EXPECT_TRUE(state.snapshot().is_open(kA.gpu));
}

TEST(ClusterState, ADrainEndsWithTheLastSlice) {
  ClusterState state(1, 10);
  const auto drain = [&](std::int64_t at) {
    state.apply({.at = Instant(at), .what = GpuScheduled{.gpu = kA.gpu, .scheduling = GpuScheduling::kDraining}});
  };
  const auto scheduling = [&] { return state.snapshot().gpu_state(kA.gpu).scheduling; };
  drain(1);
  EXPECT_EQ(scheduling(), GpuScheduling::kCordoned);  // nothing stands there
  state.apply({.at = Instant(2), .what = GpuScheduled{.gpu = kA.gpu, .scheduling = GpuScheduling::kOpen}});
  state.apply(plan_of({CreateSlice{kA}}), Instant(2));
  drain(3);
  EXPECT_EQ(scheduling(), GpuScheduling::kDraining);
  state.apply(plan_of({DestroySlice{kA}}), Instant(4));
  state.apply(event(SliceGone{kA}));
  EXPECT_EQ(scheduling(), GpuScheduling::kCordoned);
}

TEST(ClusterState, RetrainingsBecomeDueAndDone) {
  ClusterState state(2, 10);
  state.apply(event(RetrainingDue{{1}}));
  EXPECT_FALSE(state.snapshot().services[0].is_retraining_due);
  EXPECT_TRUE(state.snapshot().services[1].is_retraining_due);
  state.apply(event(RetrainingDone{{1}}));
  EXPECT_FALSE(state.snapshot().services[1].is_retraining_due);
}

TEST(ClusterState, WhatIsNotKnownIsIgnored) {
  ClusterState state(1, 10);
  state.apply(event(seen(5, 0)));
  state.apply(event(RetrainingDue{{5}}));
  state.apply(event(RetrainingDone{{5}}));
  state.apply(event(SliceReady{kA}));
  state.apply(event(SliceGone{kA}));
  state.apply(plan_of({DestroySlice{kA}, given(kA, {{0}})}), Instant(1));
  EXPECT_EQ(state.snapshot().version, 5U);
  EXPECT_TRUE(state.snapshot().slices.empty());
  EXPECT_EQ(state.snapshot().services, std::vector<ServiceState>(1));
}

}  // namespace
}  // namespace berth
