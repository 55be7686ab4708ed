#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::slice_at;

constexpr std::int64_t kWorldSeconds = testing::kIsSlowBuild ? 400 : 4000;
constexpr std::int64_t kPeriod = 8;  ///< seconds after which the changes repeat

/// A service that keeps up, one that is overloaded, and one that no slice serves. The first retrains.
Scenario busy_scenario(DropRule drop) {
  const std::vector<testing::Row> rows = {{.batch = 4, .processes = 2, .latency_ms = 10}};
  std::vector<ServiceSpec> services;
  for (const std::int64_t per_second : {300, 2000, 50}) {
    services.push_back(
        testing::service_of("s" + std::to_string(services.size()), rows,
                            testing::generated(Generator::Kind::kPoisson, Decimal(per_second), kWorldSeconds)));
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
  world.act(first_layout(), Instant(), true);
  Seen seen;
  for (std::int64_t second = 1; second < kWorldSeconds; ++second) {
    const Instant until = Instant::at_second(second);
    while (world.advance(until) != until) static_cast<void>(world.take_events());
    static_cast<void>(world.take_events());
    if (second % (kPeriod / 2) == 0) world.act(changes_at(second), until, false);
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

// ---- lost GPUs

/// One service on one slice of each of two GPUs; each request takes 400 ms alone. Requests of GPU 0's slice come first.
struct LosingWorld {
  Scenario scenario;
  std::vector<JournalRecord> journal;
  std::unique_ptr<World> world;

  explicit LosingWorld(const std::vector<std::int64_t>& requests_at_us) {
    ServiceSpec service = testing::service_of("a", {{.batch = 1, .processes = 1, .latency_ms = 400}},
                                              testing::requests_at(requests_at_us, 30));
    testing::set_target_ms(service, 2000);
    scenario = testing::scenario_of({service}, {}, 2);
    world = std::make_unique<World>(scenario, 1, WorldOptions(),
                                    [this](const JournalRecord& record) { journal.push_back(record); });
    std::vector<Action> actions;
    for (const std::uint32_t gpu : {0U, 1U}) {
      actions.push_back(create(slice_at(gpu, "1g.10gb", 0)));
      actions.push_back(assign(holding_of(slice_at(gpu, "1g.10gb", 0), {0})));
    }
    world->act(plan_of(std::move(actions)), Instant(), true);
    static_cast<void>(world->take_events());
  }

  /// Runs to an instant; returns what the engine would have seen.
  std::vector<Event> run_to(Instant until) {
    std::vector<Event> events;
    while (true) {
      const Instant reached = world->advance(until);
      for (Event& event : world->take_events()) events.push_back(std::move(event));
      if (reached == until) return events;
    }
  }
  [[nodiscard]] const ServiceTotals& totals() const { return world->meters()[0].totals(); }
};

TEST(World, ALostGpuTakesWhatRunsThereWithIt) {
  // Both slices run a batch when GPU 0 is lost at 1.1 s; the third request waits, and goes to the other.
  LosingWorld losing({1'000'000, 1'000'000, 1'050'000});
  losing.run_to(Instant(1'100'000));
  losing.world->lose_gpu({0}, Instant(1'100'000));
  EXPECT_TRUE(losing.world->is_lost({0}));
  const auto events = losing.world->take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<GpuLost>(events[0].what));
  losing.run_to(Instant::at_second(3));
  EXPECT_EQ(losing.totals().dropped, 1);
  EXPECT_EQ(losing.totals().in_time, 2);
  const auto lost = std::ranges::count_if(losing.journal, [](const JournalRecord& record) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    return slice != nullptr && slice->event == world::SliceEvent::kLost && slice->at == Instant(1'100'000);
  });
  EXPECT_EQ(lost, 1);
}

TEST(World, AGpuWithoutSlicesRemembersThatItIsLostAndBack) {
  LosingWorld losing({1'000'000});
  losing.world->act(plan_of({destroy(slice_at(0, "1g.10gb", 0))}), Instant(), false);
  losing.run_to(Instant::at_second(2));
  for (const bool is_lost : {true, false}) {
    static_cast<void>(losing.world->take_changed_gpus());
    is_lost ? losing.world->lose_gpu({0}, Instant::at_second(2)) : losing.world->return_gpu({0}, Instant::at_second(2));
    EXPECT_EQ(losing.world->take_changed_gpus(), std::vector<GpuId>{{0}});
    EXPECT_EQ(losing.world->memory_of({0}).is_lost, is_lost);
    EXPECT_TRUE(losing.world->memory_of({0}).slices.empty());
  }
}

TEST(World, ASliceThatDrainsWhenItsGpuIsLostEndsThere) {
  LosingWorld losing({1'000'000, 1'000'000});
  losing.run_to(Instant(1'100'000));
  losing.world->act(plan_of({destroy(slice_at(0, "1g.10gb", 0))}), Instant(1'100'000), false);
  losing.world->lose_gpu({0}, Instant(1'100'000));
  static_cast<void>(losing.world->take_events());
  const auto events = losing.run_to(Instant::at_second(4));
  EXPECT_TRUE(
      std::ranges::none_of(events, [](const Event& event) { return std::holds_alternative<SliceGone>(event.what); }));
  EXPECT_EQ(losing.totals().dropped, 1);
  EXPECT_EQ(losing.totals().in_time, 1);
}

TEST(World, AReturnedGpuIsEmptyAndCanBeUsedAgain) {
  LosingWorld losing({1'000'000, 12'000'000, 12'000'000});
  losing.run_to(Instant::at_second(2));
  losing.world->lose_gpu({0}, Instant::at_second(2));
  losing.world->lose_gpu({0}, Instant::at_second(2));  // nothing more happens
  EXPECT_EQ(losing.world->take_events().size(), 1U);
  // A plan made before the loss was known does nothing there.
  losing.world->act(plan_of({create(slice_at(0, "1g.10gb", 1))}), Instant::at_second(2), false);
  losing.run_to(Instant::at_second(3));
  losing.world->return_gpu({0}, Instant::at_second(3));
  losing.world->return_gpu({0}, Instant::at_second(3));
  EXPECT_EQ(losing.world->take_events().size(), 1U);
  const Slice slice = slice_at(0, "1g.10gb", 0);
  losing.world->act(plan_of({create(slice), assign(holding_of(slice, {0}))}), Instant::at_second(3), false);
  const auto events = losing.run_to(Instant::at_second(10));
  EXPECT_TRUE(std::ranges::any_of(events, [&](const Event& event) {
    const auto* ready = std::get_if<SliceReady>(&event.what);
    return ready != nullptr && ready->slice == slice && event.at == Instant(8'500'000);  // 0.5 s and 5 s later
  }));
  losing.run_to(Instant(12'500'000));
  EXPECT_EQ(losing.totals().in_time, 3);  // both slices serve
}

}  // namespace
}  // namespace berth::sim
