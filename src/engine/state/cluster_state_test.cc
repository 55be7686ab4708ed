#include "engine/state/cluster_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "domain/values/service.h"

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
    state.apply(event(SliceGone{.slice = kA, .generation = last}));  // an assignment does not change the generation
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
  EXPECT_EQ(scheduling(), GpuScheduling::kCordoned);  // it has no slices
  state.apply({.at = Instant(2), .what = GpuScheduled{.gpu = kA.gpu, .scheduling = GpuScheduling::kOpen}});
  state.apply(plan_of({CreateSlice{kA}}), Instant(2));
  drain(3);
  EXPECT_EQ(scheduling(), GpuScheduling::kDraining);
  state.apply(plan_of({DestroySlice{kA}}), Instant(4));
  state.apply(event(SliceGone{kA}));
  EXPECT_EQ(scheduling(), GpuScheduling::kCordoned);
}

TEST(ClusterState, AFailedCreationTakesItsSliceAndItsHoldersAway) {
  ClusterState state(1, 10);
  Plan plan = plan_of({CreateSlice{kA}, given(kA, {{0}}), CreateSlice{kB}});
  state.number(plan);
  state.apply(plan, Instant(1));
  const std::uint64_t generation = plan.actions[0].number;
  const auto failure = [&](std::uint64_t of) {
    return event(ActionFailed{.kind = ActionKind::kCreation, .slice = kA, .generation = of, .message = ""});
  };
  state.apply(failure(generation + 1));  // of another slice
  EXPECT_EQ(state.snapshot().slices.size(), 2U);
  state.apply(failure(generation));
  ASSERT_EQ(state.snapshot().slices.size(), 1U);
  EXPECT_EQ(state.snapshot().slices[0].holding.slice, kB);

  // A late report of the slice that failed is not taken for one about its successor.
  Plan again = plan_of({CreateSlice{kA}});
  state.number(again);
  state.apply(again, Instant(2));
  state.apply(event(SliceReady{.slice = kA, .assignment = plan.actions[1].number}));
  state.apply(event(SliceGone{.slice = kA, .generation = generation}));
  state.apply(failure(generation));
  ASSERT_EQ(state.snapshot().slices.size(), 2U);
  EXPECT_FALSE(state.snapshot().slices[0].is_ready);
}

TEST(ClusterState, AfterAFailedDestructionTheSliceStandsAndNobodyHoldsIt) {
  ClusterState state(1, 10);
  Plan plan = plan_of({CreateSlice{kA}, given(kA, {{0}})});
  state.number(plan);
  state.apply(plan, Instant(1));
  state.apply(event(SliceReady{.slice = kA, .assignment = plan.actions[1].number}));
  const auto failed = event(
      ActionFailed{.kind = ActionKind::kDestruction, .slice = kA, .generation = plan.actions[0].number, .message = ""});
  state.apply(failed);  // it is not being destroyed
  EXPECT_EQ(state.snapshot().slices[0].holding.services.size(), 1U);
  state.apply(plan_of({DestroySlice{kA}}), Instant(2));
  state.apply(failed);
  const StandingSlice& standing = state.snapshot().slices[0];
  EXPECT_FALSE(standing.is_leaving);
  EXPECT_TRUE(standing.is_ready);
  EXPECT_TRUE(standing.holding.services.empty());
}

TEST(ClusterState, SaysWhichGpusChanged) {
  ClusterState state(1, 10);
  const Slice far{.gpu = {2}, .start = 0, .profile = {1}};
  Plan plan = plan_of({CreateSlice{far}, given(far, {{0}})});
  state.number(plan);
  state.apply(plan, Instant(1));
  const Snapshot& snapshot = state.snapshot();
  ASSERT_EQ(snapshot.gpu_versions.size(), 3U);
  std::uint64_t version = snapshot.layout_version;
  EXPECT_EQ(snapshot.gpu_versions[2], version);
  state.apply(event(seen(0, 0)));
  state.apply(event(SliceReady{.slice = far, .assignment = plan.actions[1].number}));
  state.apply(event(RetrainingDue{{0}}));
  EXPECT_EQ(snapshot.layout_version, version);
  const std::vector<decltype(Event::what)> changes = {
      GpuLost{.gpu = {2}},      GpuReturned{.gpu = {2}},
      GpuScheduled{.gpu = {2}}, GpuObserved{.gpu = {2}, .slices = {}},
      SliceGone{.slice = far},  ActionFailed{.slice = far, .message = {}}};
  for (const auto& change : changes) {
    state.apply(event(change));
    EXPECT_GT(snapshot.gpu_versions[2], version) << change.index();
    version = snapshot.gpu_versions[2];
  }
  EXPECT_EQ(snapshot.gpu_versions[0], 0U);
  EXPECT_EQ(snapshot.gpu_versions[1], 0U);
}

TEST(ClusterState, CountsCreationsThatFailInARow) {
  ClusterState state(1, 10);
  const auto ordered = [&](std::vector<decltype(Action::what)> whats) {
    Plan plan = plan_of(std::move(whats));
    state.number(plan);
    state.apply(plan, Instant(1));
    return plan;
  };
  const auto fail = [&](const Slice& slice, std::uint64_t generation) {
    state.apply(
        event(ActionFailed{.kind = ActionKind::kCreation, .slice = slice, .generation = generation, .message = {}}));
  };
  const auto count = [&] { return state.snapshot().gpu_state(kA.gpu).failures.count; };
  const Plan first = ordered({CreateSlice{kA}, CreateSlice{kB}});
  fail(kA, first.actions[0].number);
  fail(kA, first.actions[0].number);  // it is not there any more
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(state.snapshot().gpu_state(kA.gpu).failures.latest, Instant(1));
  const Plan second = ordered({CreateSlice{kA}});
  fail(kB, first.actions[1].number);  // ordered before the first failure was known
  EXPECT_EQ(count(), 1);
  fail(kA, second.actions[0].number);
  EXPECT_EQ(count(), 2);
  const Plan third = ordered({CreateSlice{kB}});
  state.apply(event(SliceReady{.slice = kB, .assignment = third.actions[0].number}));
  EXPECT_EQ(count(), 0);
  fail(kA, 99);
  EXPECT_EQ(count(), 0);
}

TEST(ClusterState, CountsDestructionsThatFailInARow) {
  ClusterState state(1, 10);
  const auto order = [&](std::vector<decltype(Action::what)> whats) {
    Plan plan = plan_of(std::move(whats));
    state.number(plan);
    state.apply(plan, Instant(1));
    return plan;
  };
  const Plan created = order({CreateSlice{kA}, CreateSlice{kB}});
  const auto fail = [&](const Slice& slice, const Action& creation) {
    state.apply(event(
        ActionFailed{.kind = ActionKind::kDestruction, .slice = slice, .generation = creation.number, .message = {}}));
  };
  const auto count = [&] { return state.snapshot().gpu_state(kA.gpu).failures.count; };
  fail(kA, created.actions[0]);  // it was not ordered
  EXPECT_EQ(count(), 0);
  order({DestroySlice{kA}, DestroySlice{kB}});
  fail(kA, created.actions[0]);
  fail(kB, created.actions[1]);  // ordered with it
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(state.snapshot().gpu_state(kA.gpu).failures.latest, Instant(1));
  order({DestroySlice{kA}});
  fail(kA, created.actions[0]);
  EXPECT_EQ(count(), 2);
  state.apply(event(GpuScheduled{.gpu = kA.gpu}));
  EXPECT_EQ(count(), 0);
}

TEST(ClusterState, WhatAWorldSeesCorrectsWhatIsBelieved) {
  ClusterState state(1, 10);
  Plan plan = plan_of({CreateSlice{kA}, given(kA, {{0}}), CreateSlice{kB}});
  state.number(plan);
  state.apply(plan, Instant(1));
  const std::uint64_t a = plan.actions[0].number;
  const std::uint64_t b = plan.actions[2].number;
  const auto sees = [&](std::uint64_t known, std::vector<SeenSlice> slices) {
    state.apply(event(GpuObserved{.gpu = kA.gpu, .known_number = known, .slices = std::move(slices)}));
  };
  const auto& slices = state.snapshot().slices;
  const ChunkedList<StandingSlice> before = slices;
  sees(b, {{.slice = kA, .generation = a, .is_pending = true}, {.slice = kB, .generation = b, .is_pending = true}});
  EXPECT_EQ(slices, before);
  sees(a, {{.slice = kA, .generation = a}});  // B is newer than what it knows
  EXPECT_EQ(slices, before);
  sees(b, {{.slice = kB, .generation = b}});
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices[0].generation, b);

  // A exists after all: it is unowned. There is a foreign slice, too.
  const Slice others{.gpu = {0}, .start = 6, .profile = {1}};
  sees(b, {{.slice = kA, .generation = a}, {.slice = kB, .generation = b}, {.slice = others, .is_foreign = true}});
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0].holding.slice, kA);
  EXPECT_TRUE(slices[0].holding.services.empty());
  EXPECT_TRUE(slices[0].is_ready);
  EXPECT_TRUE(slices[2].is_foreign);
  EXPECT_EQ(state.snapshot().gpus_with_foreign_slices(), std::vector<GpuId>{kA.gpu});
  sees(b, {{.slice = kA, .generation = a, .is_leaving = true}, {.slice = kB, .generation = b}});
  EXPECT_EQ(slices.size(), 2U);
  sees(b, {});
  EXPECT_TRUE(slices.empty());
}

TEST(ClusterState, ADrainDoesNotWaitForSlicesOfOthers) {
  ClusterState state(1, 10);
  state.apply(event(GpuObserved{.gpu = kA.gpu, .slices = {{.slice = kA, .is_foreign = true}}}));
  state.apply(event(GpuScheduled{.gpu = kA.gpu, .scheduling = GpuScheduling::kDraining}));
  EXPECT_EQ(state.snapshot().gpu_state(kA.gpu).scheduling, GpuScheduling::kCordoned);
  EXPECT_EQ(state.snapshot().slices.size(), 1U);
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

ServiceSet set_event(std::uint32_t service, std::uint64_t revision) {
  return {.service = {service}, .revision = revision, .spec = std::make_shared<const ServiceSpec>()};
}

TEST(ClusterState, AServiceTakesAPlaceAndIsAnotherOneThanItsPredecessor) {
  ClusterState state(1, 10);
  const auto at_second = [](std::int64_t second, decltype(Event::what) what) {
    return Event{.at = Instant::at_second(second), .what = std::move(what)};
  };
  state.apply(at_second(5, set_event(1, 1)));
  ASSERT_EQ(state.snapshot().services.size(), 2U);
  EXPECT_EQ(state.snapshot().services[1].number, 1U);
  EXPECT_EQ(state.snapshot().services[1].since, Instant::at_second(5));
  state.apply(event(seen(1, 4)));  // before it came: not its own
  state.apply(event(seen(1, 5)));
  EXPECT_EQ(state.snapshot().services[1].seconds.size(), 1U);
  state.apply(at_second(7, RetrainingDue{{1}}));

  ServiceSet changed = set_event(1, 2);
  changed.restarts_retraining = false;
  state.apply(at_second(8, changed));
  EXPECT_EQ(state.snapshot().services[1].number, 1U);
  EXPECT_EQ(state.snapshot().services[1].revision, 2U);
  EXPECT_TRUE(state.snapshot().services[1].is_retraining_due);
  EXPECT_EQ(state.snapshot().services[1].seconds.size(), 1U);

  state.apply(at_second(9, ServiceRemoved{{1}}));
  EXPECT_TRUE(state.snapshot().services[1].is_absent);
  state.apply(event(seen(1, 9)));
  state.apply(event(RetrainingDue{{1}}));
  EXPECT_TRUE(state.snapshot().services[1].seconds.empty());
  EXPECT_FALSE(state.snapshot().services[1].is_retraining_due);

  state.apply(at_second(20, set_event(1, 3)));
  EXPECT_EQ(state.snapshot().services[1].number, 3U);
  EXPECT_TRUE(state.snapshot().services[1].seconds.empty());
  EXPECT_EQ(state.snapshot().specs_version, 4U);
}

}  // namespace
}  // namespace berth
