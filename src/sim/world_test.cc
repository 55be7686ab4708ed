#include "sim/world.h"

#include <gtest/gtest.h>

#include "sim/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::slice_at;

constexpr std::int64_t kSeconds = testing::kIsSlowBuild ? 400 : 4000;
constexpr std::int64_t kPeriod = 8;  ///< seconds after which the changes repeat

/// A service that keeps up, one that is overloaded, and one that no slice serves. The first retrains.
Scenario busy_scenario(DropRule drop) {
  const std::vector<testing::Row> rows = {{.batch = 4, .processes = 2, .latency_ms = 10}};
  std::vector<ServiceSpec> services;
  for (const std::int64_t per_second : {300, 2000, 50}) {
    services.push_back(
        testing::service_of("s" + std::to_string(services.size()), rows,
                            testing::generated(Generator::Kind::kPoisson, Decimal(per_second), kSeconds)));
    services.back().start = Micros(300'000);
    services.back().drop = drop;
  }
  Retraining retraining;
  retraining.every = Micros::seconds(5);
  retraining.time_on = {{1, Micros::seconds(2)}};
  services[0].retraining = retraining;
  return testing::scenario_of(std::move(services), {}, 2);
}

Plan plan_of(std::vector<Action> actions) {
  Plan plan;
  plan.actions = std::move(actions);
  return plan;
}

/// Slices with holders that never change.
Plan first_layout() {
  std::vector<Action> actions;
  const auto hold = [&](const Slice& slice, std::uint32_t service, Role role = Role::kInference) {
    actions.push_back(create(slice));
    actions.push_back(assign(holding_of(slice, {service}, role)));
  };
  hold(slice_at(0, "1g.10gb", 0), 0);
  hold(slice_at(0, "1g.10gb", 1), 1);
  hold(slice_at(0, "1g.10gb", 2), 0, Role::kRetraining);
  hold(slice_at(1, "2g.20gb", 0), 0);
  hold(slice_at(1, "2g.20gb", 2), 1);
  return plan_of(std::move(actions));
}

/// Every four seconds GPU 1 has another partition: two slices, or four of other profiles.
Plan changes_at(std::int64_t second) {
  const bool is_to_small = second % kPeriod != 0;
  std::vector<Slice> large = {slice_at(1, "2g.20gb", 0), slice_at(1, "2g.20gb", 2)};
  std::vector<Slice> small;
  small.reserve(4);
  for (int start = 0; start < 4; ++start) small.push_back(slice_at(1, "1g.10gb", start));
  std::vector<Action> actions;
  for (const Slice& slice : is_to_small ? large : small) actions.push_back(destroy(slice));
  std::uint32_t holder = 0;
  for (const Slice& slice : is_to_small ? small : large) {
    actions.push_back(create(slice));
    actions.push_back(assign(holding_of(slice, {holder++ % 2})));
  }
  return plan_of(std::move(actions));
}

/// The largest sizes seen in the seconds before `half` and after it.
struct Seen {
  TableSizes early;
  TableSizes late;
};

void raise(TableSizes& most, const TableSizes& sizes) {
  most.slices = std::max(most.slices, sizes.slices);
  most.slice_timers = std::max(most.slice_timers, sizes.slice_timers);
  most.replicas = std::max(most.replicas, sizes.replicas);
  most.queued = std::max(most.queued, sizes.queued);
  most.open_seconds = std::max(most.open_seconds, sizes.open_seconds);
}

Seen sizes_of_long_run(const Scenario& scenario, const WorldOptions& options) {
  World world(scenario, 1, options, [](const JournalRecord&) {});
  world.act(first_layout(), Instant());
  Seen seen;
  for (std::int64_t second = 1; second < kSeconds; ++second) {
    const Instant until = Instant::at_second(second);
    while (world.advance(until) != until) static_cast<void>(world.take_events());
    static_cast<void>(world.take_events());
    if (second % (kPeriod / 2) == 0) world.act(changes_at(second), until);
    raise(second < 100 ? seen.early : seen.late, world.table_sizes());
  }
  EXPECT_GT(world.slice_sums().changes, 0);
  return seen;
}

void expect_no_growth(const Scenario& scenario, const WorldOptions& options) {
  const Seen seen = sizes_of_long_run(scenario, options);
  EXPECT_EQ(seen.late.slices, seen.early.slices);
  EXPECT_LE(seen.late.slices, 5U + 4U);  // those that exist and those that wait for room
  EXPECT_LE(seen.late.slice_timers, seen.early.slice_timers);
  EXPECT_LE(seen.late.replicas, seen.early.replicas);
  EXPECT_LE(seen.late.queued, seen.early.queued * 3 / 2 + 20);
  EXPECT_LE(seen.late.open_seconds, seen.early.open_seconds + 3);
}

TEST(World, TablesDoNotGrowWithTimeRequestByRequest) {
  for (const DropRule drop : {DropRule::kEarly, DropRule::kNever}) expect_no_growth(busy_scenario(drop), {});
}

TEST(World, TablesDoNotGrowWithTimeByRates) {
  for (const DropRule drop : {DropRule::kEarly, DropRule::kNever}) {
    Scenario scenario = busy_scenario(drop);
    scenario.fidelity = Fidelity::kRates;
    WorldOptions options;
    options.is_rough = true;
    expect_no_growth(scenario, options);
  }
}

TEST(World, TablesDoNotGrowWithTimeWhenRequestsArePushed) {
  WorldOptions options;
  options.dispatch = Dispatch::kPush;
  expect_no_growth(busy_scenario(DropRule::kEarly), options);
}

}  // namespace
}  // namespace berth::sim
