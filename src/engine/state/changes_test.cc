#include "engine/state/changes.h"

#include <gtest/gtest.h>

#include "engine/state/cluster_state.h"

namespace berth {
namespace {

constexpr Slice kFirst{.gpu = {0}, .start = 0, .profile = {1}};
constexpr Slice kSecond{.gpu = {0}, .start = 4, .profile = {2}};

Action cut(const Slice& slice) { return {.what = CreateSlice{slice}, .reason = {}}; }
Action drop(const Slice& slice) { return {.what = DestroySlice{slice}, .reason = {}}; }
Action hand(const Slice& slice, std::vector<ServiceId> services, Role role = Role::kInference) {
  return {.what = AssignSlice{.holding = {.slice = slice, .role = role, .services = std::move(services)}, .point = {}},
          .reason = {}};
}
Plan plan_with(std::vector<Action> actions) {
  Plan plan;
  plan.actions = std::move(actions);
  return plan;
}

TEST(Changes, BelongToThoseBeforeAndAfter) {
  using Counts = std::vector<std::int64_t>;
  struct Case {
    const char* name;
    std::vector<Action> actions;
    Counts counts;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {0, 0, 0}},
      {"destroyed", {drop(kFirst)}, {1, 0, 0}},
      {"created and given", {cut(kSecond), hand(kSecond, {{2}})}, {0, 0, 1}},
      {"created without an owner", {cut(kSecond)}, {0, 0, 0}},
      {"created for two", {cut(kSecond), hand(kSecond, {{1}, {2}})}, {0, 1, 1}},
      {"gets another owner", {hand(kFirst, {{1}})}, {0, 0, 0}},
      {"changes its role", {hand(kFirst, {{0}}, Role::kRetraining)}, {0, 0, 0}},
      {"makes room for another's", {drop(kFirst), cut(kFirst), hand(kFirst, {{1}})}, {1, 1, 0}},
      {"given away, then destroyed", {hand(kFirst, {{1}}), drop(kFirst)}, {1, 0, 0}},
      {"created, given and destroyed", {cut(kSecond), hand(kSecond, {{2}}), drop(kSecond)}, {0, 0, 2}},
      {"given twice", {cut(kSecond), hand(kSecond, {{2}}), hand(kSecond, {{1}})}, {0, 1, 0}},
      {"does not exist", {drop(kSecond), hand(kSecond, {{1}})}, {0, 0, 0}},
  };
  Snapshot snapshot;
  snapshot.services.resize(3);
  snapshot.slices = {{.holding = {.slice = kFirst, .services = {{0}}}},
                     {.holding = {.slice = kSecond, .services = {{1}}}, .is_leaving = true}};
  for (const Case& each : cases) {
    EXPECT_EQ(changes_by_service(snapshot, plan_with(each.actions)), each.counts) << each.name;
  }
}

TEST(Changes, TheStateRemembersAnHour) {
  ClusterState state(2, 10);
  state.apply(plan_with({cut(kFirst), hand(kFirst, {{0}})}), Instant());  // the first layout is free
  const auto& services = state.snapshot().services;
  EXPECT_TRUE(services[0].changes.empty());
  const auto swap_at = [&](std::int64_t second) {
    state.set_now(Instant::at_second(second));
    state.apply(plan_with({drop(kFirst), cut(kFirst), hand(kFirst, {{0}})}), Instant::at_second(second + 5));
  };
  swap_at(10);
  swap_at(10);
  EXPECT_EQ(services[0].changes, (ChunkedList<ChangeCount>{{.at = Instant::at_second(15), .count = 4}}));
  EXPECT_TRUE(services[1].changes.empty());
  swap_at(20);
  EXPECT_EQ(changes_in_hour(services[0], Instant::at_second(25)), 6);
  EXPECT_EQ(changes_in_hour(services[0], Instant::at_second(24)), 4);
  EXPECT_EQ(changes_in_hour(services[0], Instant::at_second(3615) - Micros(1)), 6);
  EXPECT_EQ(changes_in_hour(services[0], Instant::at_second(3615)), 2);
  swap_at(3610);
  EXPECT_EQ(services[0].changes.size(), 2U);  // those of second 15 are forgotten
}

TEST(Changes, OrdersCountAgainstNoBudget) {
  ClusterState state(1, 10);
  state.apply(plan_with({cut(kFirst), hand(kFirst, {{0}})}), Instant());
  Plan order = plan_with({drop(kFirst)});
  order.is_ordered = true;
  state.set_now(Instant::at_second(10));
  state.apply(order, Instant::at_second(10));
  EXPECT_EQ(changes_in_hour(state.snapshot().services[0], Instant::at_second(10)), 0);
}

TEST(Changes, MemoryIsBoundedAndNothingOfTheHourIsLost) {
  ClusterState state(1, 10);
  state.apply(plan_with({cut(kFirst), hand(kFirst, {{0}})}), Instant());
  std::uint64_t standing = 0;  // the generation of the slice
  for (std::int64_t at = 1; at <= 5000; ++at) {
    Plan swap = plan_with({drop(kFirst), cut(kFirst), hand(kFirst, {{0}})});
    state.number(swap);
    state.apply(swap, Instant(at));
    state.apply(Event{.at = Instant(at), .what = SliceGone{.slice = kFirst, .generation = standing}});
    standing = swap.actions[1].number;
  }
  const ServiceState& service = state.snapshot().services[0];
  EXPECT_EQ(service.changes.size(), 4096U);
  EXPECT_EQ(changes_in_hour(service, Instant(5000)), 10'000);
  EXPECT_EQ(service.changes.front().at, Instant(905));
  EXPECT_EQ(service.changes.front().count, 2 * 905);
}

}  // namespace
}  // namespace berth
