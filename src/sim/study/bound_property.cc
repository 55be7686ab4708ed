// No run exceeds the bound: neither policies nor stages that try to, with partitions, assignments and points chosen at
// random or greedily, in random small scenarios of every kind.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

#include "base/core/test_cases.h"
#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"
#include "engine/loop/verify.h"
#include "sim/study/replay_bound.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::Ran;

/// Uniform in [low, end), also while the cases are still small.
template <class Number>
Number drawn(Number low, Number end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(low, end));
}
bool happens(int percent) { return drawn(0, 100) < percent; }

/// Rows for random profiles of the models, among them large batches, slow points and many processes.
PerformanceTable any_table(const std::vector<FleetEntry>& fleet) {
  PerformanceTable table{.model = "m", .points = {}};
  const auto add = [&](const std::string& gpu, const std::string& profile, double speed) {
    for (int processes = 1; processes <= drawn(1, 4); ++processes) {
      int batch = 1;
      auto latency_us = drawn<std::int64_t>(2'000, 60'000);
      for (int row = 0; row < drawn(1, 4); ++row) {
        const Decimal latency_ms(
            std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(latency_us) / speed)), 1000);
        table.points.push_back({.gpu = gpu,
                                .profile = profile,
                                .batch = batch,
                                .processes = processes,
                                .requests_per_second = Decimal(std::int64_t{1000} * batch * processes) / latency_ms,
                                .latency_ms = latency_ms});
        batch += drawn(1, 12);
        latency_us += drawn<std::int64_t>(-500, 30'000);
        latency_us = std::max<std::int64_t>(latency_us, 500);
      }
    }
  };
  std::set<std::string> done;
  for (const FleetEntry& entry : fleet) {
    if (!done.insert(entry.model.name).second) continue;
    for (const MigProfile& profile : entry.model.profiles) {
      if (happens(profile.is_plain() ? 85 : 15)) add(entry.model.name, profile.name, profile.compute_slices);
    }
    if (happens(60)) add(entry.model.name, "full", 7);
  }
  std::ranges::sort(table.points, {}, [](const PerformancePoint& point) {
    return std::tuple(point.gpu, point.profile, point.processes, point.batch);
  });
  return table;
}

Arrivals any_load(std::int64_t seconds) {
  const auto per_second = drawn<std::int64_t>(0, happens(30) ? 4000 : 400);
  Arrivals arrivals;
  if (happens(50)) {
    arrivals = testing::generated(static_cast<Generator::Kind>(drawn(0, 4)), Decimal(per_second), seconds);
  } else {
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(seconds) + 5);
    const auto most = static_cast<std::uint32_t>(per_second) * 2 + 1;
    for (std::uint32_t& count : counts) count = happens(30) ? 0 : drawn<std::uint32_t>(0, most);
    arrivals = testing::counted(counts);
    arrivals.seconds = seconds;
    arrivals.from_second = drawn<std::int64_t>(0, 8);
  }
  return arrivals;
}

Accuracy any_accuracy() {
  return {.before_micro = drawn<std::int64_t>(300'000, 1'000'000),
          .after_micro = drawn<std::int64_t>(300'000, 1'000'001)};
}

Retraining any_retraining() {
  Retraining retraining;
  retraining.every = Micros(drawn<std::int64_t>(300'000, 9'000'000));
  retraining.offset = Micros(drawn<std::int64_t>(0, 3'000'000));
  retraining.swap = Micros(happens(50) ? 0 : drawn<std::int64_t>(0, 1'000'000));
  retraining.keeps_unfinished = happens(50);
  for (const int size : {0, 1, 2, 3, 4, 7}) {
    if (happens(80)) retraining.time_on.emplace(size, Micros(drawn<std::int64_t>(happens(5) ? 0 : 100'000, 6'000'000)));
  }
  return retraining;
}

ServiceSpec any_tenant(std::string name, std::int64_t seconds, const std::vector<FleetEntry>& fleet) {
  auto service = testing::service_of(std::move(name), {}, any_load(seconds));
  service.table = any_table(fleet);
  testing::set_target_ms(service, drawn<std::int64_t>(5, happens(20) ? 2000 : 150));
  service.drop = happens(60) ? DropRule::kEarly : DropRule::kNever;
  service.start = Micros(happens(50) ? 0 : drawn<std::int64_t>(0, 2'000'000));
  service.batching = {.slo_factor = Decimal(drawn<std::int64_t>(20, 120), 100), .processes_max = drawn(1, 4)};
  service.accuracy = any_accuracy();
  service.weight = Decimal(drawn<std::int64_t>(1, 40), 10);
  if (happens(60)) service.retraining = any_retraining();
  while (happens(25)) {
    service.variants.push_back(
        {.name = "v" + std::to_string(service.variants.size()), .table = any_table(fleet), .accuracy = any_accuracy()});
  }
  return service;
}

std::vector<FleetEntry> any_fleet() {
  std::vector<FleetEntry> fleet;
  const std::vector<const char*> names = {"A100-80GB", "A30", "RTX-PRO-6000", "L4-24GB", "H100-80GB"};
  do {
    const auto model = mig::find_gpu_model(names[drawn<std::size_t>(0, names.size())]);
    ENSURE(model.has_value());
    fleet.push_back({.model = *model, .count = drawn<std::int64_t>(1, 3), .usd_per_gpu_hour = Decimal(1)});
  } while (happens(30));
  return fleet;
}

/// A random layout of slices of the fleet, each for one service.
std::vector<Holding> any_layout(const Scenario& scenario) {
  std::vector<Holding> layout;
  for (std::uint32_t gpu = 0; gpu < scenario.gpu_count(); ++gpu) {
    const GpuModel& model = scenario.model_of({gpu});
    const auto holder = [&] {
      return std::vector<ServiceId>{{drawn<std::uint32_t>(0, static_cast<std::uint32_t>(scenario.services.size()))}};
    };
    const auto role = [&] { return happens(20) ? Role::kRetraining : Role::kInference; };
    if (!model.is_mig_capable() || happens(30)) {
      layout.push_back(
          {.slice = {.gpu = {gpu}, .start = 0, .profile = ProfileId::full()}, .role = role(), .services = holder()});
      continue;
    }
    mig::State state;
    while (true) {
      const auto fitting = mig::placements_that_fit(model, state, mig::all_rules(model));
      if (fitting.empty() || happens(10)) break;
      state.push_back(fitting[drawn<std::size_t>(0, fitting.size())]);
      std::sort(state.begin(), state.end());
    }
    for (const mig::Placement& placement : state) {
      layout.push_back({.slice = {.gpu = {gpu}, .start = placement.start, .profile = placement.profile},
                        .role = role(),
                        .services = holder()});
    }
  }
  return layout;
}

Scenario any_world() {
  const auto seconds = drawn<std::int64_t>(3, 16);
  Scenario scenario;
  scenario.name = "test";
  scenario.fleet = any_fleet();
  const int count = drawn(1, 4);
  for (int i = 0; i < count; ++i) {
    const std::int64_t own = happens(20) ? drawn<std::int64_t>(1, seconds + 1) : seconds;
    scenario.services.push_back(any_tenant("s" + std::to_string(i), own, scenario.fleet));
  }
  scenario.layout = any_layout(scenario);
  const auto cost = [] { return Micros(happens(40) ? 0 : drawn<std::int64_t>(0, 800'000)); };
  scenario.changes = {
      .destroy = cost(), .create = cost(), .plumbing = Micros(happens(50) ? 1 : drawn<std::int64_t>(1, 900'000))};
  if (happens(25)) scenario.interference = {Decimal(1), Decimal(11, 10), Decimal(5, 4)};
  if (happens(10)) scenario.interference = {Decimal(12, 10), Decimal(7, 10), Decimal(9, 10)};
  if (happens(20)) scenario.planning = Micros(drawn<std::int64_t>(0, 2'000'000));
  if (happens(20)) scenario.observation_delay = Micros(drawn<std::int64_t>(0, 3'000'000));
  if (happens(20))
    scenario.frozen = {{.from = Instant(drawn<std::int64_t>(0, 3'000'000)), .until = Instant::at_second(4)}};
  if (happens(15)) scenario.fidelity = Fidelity::kRates;
  if (happens(50)) scenario.objective = Objective::kRequests;
  return scenario;
}

/// Checks that a run does not exceed the bound.
void check(const measure::Figures& figures, const bound::Goodputs& bound, const char* who) {
  constexpr double kTolerance = 1e-9;
  RC_LOG(std::string(who));
  RC_ASSERT(figures.goodput.has_value() == bound.goodput.has_value());
  if (!figures.goodput) return;
  RC_ASSERT(*figures.goodput <= *bound.goodput + kTolerance);
  RC_ASSERT(*figures.goodput_mean_of_services <= *bound.goodput_mean_of_services + kTolerance);
}

bound::Bound bound_of(const Scenario& scenario, std::uint64_t seed) { return *replay_bound(scenario, seed, {}); }

RC_GTEST_PROP(BoundProperty, NoPolicyPassesIt, (std::uint64_t seed)) {
  const Scenario scenario = any_world();
  const bound::Bound bound = bound_of(scenario, seed);
  for (const char* policy : {"fixed", "shared", "whole", "static-even", "static-best", "paris"}) {
    if (std::string_view(policy) == "static-best" && !happens(berth::testing::by_build(20, 4))) continue;  // slow
    const Ran ran = testing::run_policy(scenario, policy, seed);
    if (ran.result.infeasible) continue;
    check(ran.result.figures, std::string_view(policy) == "shared" ? bound.any : bound.without_sharing, policy);
  }
}

/// The behaviour of a stage that tries to exceed the bound.
struct Attack {
  std::uint64_t seed = 1;
  bool is_sharing = false;
  int stubbornness = 50;  ///< percent of the seconds in which it does nothing
  int tries = 8;
};

/// A random point of the table, of any variant, or the default.
std::optional<PointChoice> any_point(const Scenario& scenario, const Slice& slice, ServiceId service, Rng& rng) {
  if (rng.below(4) == 0) return std::nullopt;
  const ServiceSpec& spec = scenario.services[service.index];
  const auto variant = static_cast<int>(rng.below(spec.variants.size() + 1));
  const PerformanceTable& table =
      variant == 0 ? spec.table : spec.variants[static_cast<std::size_t>(variant) - 1].table;
  const auto rows = profile::points_on(table, scenario.model_of(slice.gpu), slice.profile);
  if (rows.empty()) return std::nullopt;
  const PerformancePoint& row = rows[rng.below(rows.size())];
  return PointChoice{.variant = variant, .batch = row.batch, .processes = row.processes};
}

Action any_action(const Scenario& scenario, const Snapshot& snapshot, const Attack& attack, Rng& rng) {
  const GpuId gpu{static_cast<std::uint32_t>(rng.below(scenario.gpu_count()))};
  const GpuModel& model = scenario.model_of(gpu);
  Slice slice{.gpu = gpu, .start = 0, .profile = ProfileId::full()};
  if (model.is_mig_capable() && rng.below(5) > 0) {
    slice.profile = {static_cast<std::uint16_t>(rng.below(model.profiles.size()))};
    const std::vector<int>& starts = model.profiles[slice.profile.index].starts;
    slice.start = starts[rng.below(starts.size())];
  }
  // Mostly an existing slice.
  if (!snapshot.slices.empty() && rng.below(3) > 0) {
    slice = snapshot.slices[rng.below(snapshot.slices.size())].holding.slice;
  }
  const std::uint64_t kind = rng.below(8);
  if (kind == 0) return testing::create(slice);
  if (kind == 1) return testing::destroy(slice);
  Holding holding{.slice = slice, .role = Role::kInference, .services = {}};
  if (attack.is_sharing && rng.below(2) == 0) {
    for (std::uint32_t i = 0; i < scenario.services.size(); ++i) holding.services.push_back({i});
  } else {
    holding.services.push_back({static_cast<std::uint32_t>(rng.below(scenario.services.size()))});
    if (rng.below(4) == 0) holding.role = Role::kRetraining;
  }
  return testing::assign(holding, any_point(scenario, slice, holding.services.front(), rng));
}

/// Whether an action is consistent with the plan so far: a slice is created again only once it is gone, and a plan has
/// one action for each slice, except that a new one is also assigned.
bool is_sober(const Snapshot& snapshot, const Plan& plan, const Action& action) {
  const Slice& slice = slice_of(action.what);
  const bool is_create = std::holds_alternative<CreateSlice>(action.what);
  const bool is_known = std::ranges::any_of(
      snapshot.slices, [&](const StandingSlice& standing) { return standing.holding.slice == slice; });
  if (is_create && is_known) return false;
  return std::ranges::none_of(plan.actions, [&](const Action& other) {
    const bool is_new =
        std::holds_alternative<CreateSlice>(other.what) && std::holds_alternative<AssignSlice>(action.what);
    return slice_of(other.what) == slice && !is_new;
  });
}

Stage attacker(const Scenario& scenario, const Attack& attack) {
  return deciding_stage(
      "attacker", [&scenario, attack](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
        Rng rng = Rng(attack.seed).split("attacker", static_cast<std::uint64_t>(snapshot.now.micros()));
        const bool is_first = snapshot.is_before_first_layout();
        if (!is_first && rng.below(100) < static_cast<std::uint64_t>(attack.stubbornness)) return std::nullopt;
        for (int i = 0; i < attack.tries; ++i) {
          Plan wanted = plan;
          const Action action = any_action(scenario, snapshot, attack, rng);
          if (!is_sober(snapshot, plan, action)) continue;
          wanted.actions.push_back(action);
          const Instant at = snapshot.takes_effect_at(scenario.planning);
          if (!find_objection(scenario, snapshot, wanted, at)) plan = wanted;
        }
        return std::nullopt;
      });
}

RC_GTEST_PROP(BoundProperty, NoAttackPassesIt, (std::uint64_t seed)) {
  const Scenario scenario = any_world();
  const bound::Bound bound = bound_of(scenario, seed);
  for (int i = 0; i < 6; ++i) {
    const Attack attack{.seed = seed + static_cast<std::uint64_t>(i),
                        .is_sharing = i % 2 == 1,
                        .stubbornness = drawn(0, 101),
                        .tries = drawn(1, 30)};
    std::vector<Stage> stages = testing::fixed_stages(scenario);
    stages.push_back(attacker(scenario, attack));
    const sim::WorldOptions world{.sharing = happens(70) ? Sharing::kMps : Sharing::kTimeSlices,
                                  .dispatch = happens(70) ? Dispatch::kPull : Dispatch::kPush,
                                  .only = std::nullopt};
    const Ran ran = testing::run(scenario, std::move(stages), seed, world);
    check(ran.result.figures, attack.is_sharing ? bound.any : bound.without_sharing, "attacker");
  }
}

RC_GTEST_PROP(BoundProperty, TheSameTwice, (std::uint64_t seed)) {
  const Scenario scenario = any_world();
  RC_ASSERT(bound_of(scenario, seed) == bound_of(scenario, seed));
}

}  // namespace
}  // namespace berth::study
