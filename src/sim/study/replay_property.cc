// Whole replays of random small scenarios: properties of every policy, and of plans that change slices all the time.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/loop/verify.h"
#include "engine/policy/registry.h"
#include "sim/study/testing/policy_run.h"
#include "sim/study/testing/renewed_run.h"

namespace berth::study {
namespace {

using testing::holding_of;
using testing::Ran;
using testing::slice_at;

/// Uniform in [low, end), also while the cases are still small.
template <class Number>
Number any_of(Number low, Number end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(low, end));
}
bool any_chance(int percent) { return any_of(0, 100) < percent; }

std::vector<testing::Row> any_rows() {
  std::vector<testing::Row> rows;
  for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb", "full"}) {
    if (any_chance(10)) continue;
    const int processes = any_of(1, 4);
    rows.push_back({.profile = profile, .batch = 1, .processes = processes, .latency_ms = any_of<std::int64_t>(1, 30)});
    rows.push_back(
        {.profile = profile, .batch = any_of(2, 9), .processes = processes, .latency_ms = any_of<std::int64_t>(1, 60)});
  }
  return rows;
}

Arrivals any_arrivals(std::int64_t seconds) {
  if (any_chance(50)) {
    const auto kind = static_cast<Generator::Kind>(any_of(0, 4));
    return testing::generated(kind, Decimal(any_of<std::int64_t>(0, 2000), 10), seconds);
  }
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(seconds) + 5);
  for (std::uint32_t& count : counts) count = any_chance(30) ? 0 : any_of<std::uint32_t>(0, 200);
  Arrivals arrivals = testing::counted(counts);
  arrivals.seconds = seconds;
  arrivals.from_second = any_of<std::int64_t>(0, 8);
  return arrivals;
}

ServiceSpec any_service(std::string name, std::int64_t seconds) {
  auto service = testing::service_of(std::move(name), any_rows(), any_arrivals(seconds));
  testing::set_target_ms(service, any_of<std::int64_t>(20, 200));
  service.drop = any_chance(50) ? DropRule::kEarly : DropRule::kNever;
  service.start = Micros(any_of<std::int64_t>(0, 2'000'000));
  service.accuracy = {.before_micro = 612'345, .after_micro = 934'567};
  if (any_chance(50)) {
    Retraining retraining;
    retraining.every = Micros(any_of<std::int64_t>(1'000'000, 9'000'000));
    retraining.offset = Micros(any_of<std::int64_t>(0, 3'000'000));
    retraining.swap = Micros(any_of<std::int64_t>(0, 1'000'000));
    retraining.keeps_unfinished = any_chance(50);
    for (const int size : {0, 1, 2, 3, 4, 7})
      retraining.time_on.emplace(size, Micros(any_of<std::int64_t>(100'000, 5'000'000)));
    service.retraining = retraining;
  }
  return service;
}

Scenario any_scenario() {
  const auto seconds = any_of<std::int64_t>(5, 20);
  std::vector<ServiceSpec> services;
  const int count = any_of(1, 4);
  for (int i = 0; i < count; ++i) services.push_back(any_service("s" + std::to_string(i), seconds));
  const auto any_holder = [&] {
    return std::vector<std::uint32_t>{any_of<std::uint32_t>(0, static_cast<std::uint32_t>(count))};
  };
  std::vector<Holding> layout;
  for (const Slice& slice :
       {slice_at(0, "1g.10gb", 0), slice_at(0, "1g.10gb", 1), slice_at(0, "2g.20gb", 2), slice_at(0, "3g.40gb", 4)}) {
    if (any_chance(80))
      layout.push_back(holding_of(slice, any_holder(), any_chance(20) ? Role::kRetraining : Role::kInference));
  }
  if (layout.empty()) layout.push_back(holding_of(slice_at(0, "3g.40gb", 4), {0}));
  Scenario scenario = testing::scenario_of(std::move(services), std::move(layout), any_of<std::int64_t>(1, 4));
  scenario.changes = {.destroy = Micros(any_of<std::int64_t>(0, 800'000)),
                      .create = Micros(any_of<std::int64_t>(0, 800'000)),
                      .plumbing = Micros(any_chance(50) ? 1 : any_of<std::int64_t>(1, 2'000'000))};
  if (any_chance(30)) scenario.interference = {Decimal(1), Decimal(11, 10), Decimal(5, 4)};
  if (any_chance(30)) scenario.planning = Micros(any_of<std::int64_t>(0, 2'000'000));
  if (any_chance(30)) scenario.observation_delay = Micros(any_of<std::int64_t>(0, 3'000'000));
  if (any_chance(30))
    scenario.frozen = {{.from = Instant(any_of<std::int64_t>(0, 3'000'000)), .until = Instant::at_second(4)}};
  return scenario;
}

/// A policy that changes slices at random, by a fixed seed and the snapshots, in every way that the verifier accepts.
Stage restless(const Scenario& scenario, std::uint64_t seed) {
  const auto any_slice = [](Rng& rng) {
    const std::vector<std::pair<const char*, std::vector<int>>> profiles = {
        {"1g.10gb", {0, 1, 2, 3, 4, 5, 6}}, {"2g.20gb", {0, 2, 4}}, {"3g.40gb", {0, 4}}, {"1g.10gb+me", {0, 1, 2}}};
    const auto& [name, starts] = profiles[rng.below(profiles.size())];
    return slice_at(0, name, starts[rng.below(starts.size())]);
  };
  return deciding_stage(
      "restless", [&scenario, seed, any_slice](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
        if (snapshot.slices.empty() || snapshot.now.micros() % kMicrosPerSecond != 0) return std::nullopt;
        std::uint64_t seen = 0;
        for (const ServiceState& service : snapshot.services) {
          for (const ServiceSecond& second : service.seconds)
            seen = seen * 31 + static_cast<std::uint64_t>(second.arrivals);
        }
        Rng rng = Rng(seed).split("restless", static_cast<std::uint64_t>(snapshot.now.micros()) + seen);
        for (int i = 0; i < 6; ++i) {
          const Slice slice = any_slice(rng);
          const auto service = static_cast<std::uint32_t>(rng.below(scenario.services.size()));
          Plan wanted = plan;
          const std::uint64_t kind = rng.below(4);
          if (kind == 0) wanted.actions.push_back(testing::create(slice));
          if (kind == 1) wanted.actions.push_back(testing::destroy(slice));
          if (kind == 2) wanted.actions.push_back(testing::assign(holding_of(slice, {service})));
          if (kind == 3) wanted.actions.push_back(testing::assign(holding_of(slice, {service}, Role::kRetraining)));
          if (!find_objection(scenario, snapshot, wanted, snapshot.now + scenario.planning)) plan = wanted;
        }
        return std::nullopt;
      });
}

Ran run_restless(const Scenario& scenario, std::uint64_t seed, Dispatch dispatch = Dispatch::kPull) {
  std::vector<Stage> stages = testing::fixed_stages(scenario);
  stages.push_back(restless(scenario, seed));
  return testing::run(scenario, std::move(stages), seed,
                      {.sharing = Sharing::kTimeSlices, .dispatch = dispatch, .only = {}});
}

void check_recount(const Scenario& scenario, const Ran& ran) {
  const testing::Recount count = testing::recount(ran.journal, scenario);
  RC_ASSERT(count.is_in_order);
  RC_ASSERT(count.changes == ran.result.figures.changes);
  std::int64_t requests = 0;
  std::int64_t worth = 0;
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    const testing::Recount::Service& own = count.services[index];
    const measure::Figures& figures = ran.result.services[index].figures;
    RC_ASSERT(own.requests == own.in_time + own.late + own.dropped + own.unfinished);
    RC_ASSERT(static_cast<const RequestCounts&>(own) == static_cast<const RequestCounts&>(figures));
    RC_ASSERT(own.changes == figures.changes);
    requests += own.requests;
    worth += own.accuracy_sum_micro;
  }
  RC_ASSERT(ran.result.figures.requests == requests);
  RC_ASSERT(ran.result.figures.goodput.has_value() == (requests > 0));
  if (requests > 0)
    RC_ASSERT(*ran.result.figures.goodput == static_cast<double>(worth) / 1e6 / static_cast<double>(requests));
  const measure::Utilisation& use = ran.result.figures.utilisation;
  RC_ASSERT((use.allocated >= 0 && use.allocated <= 1 + 1e-9 && use.busy >= 0 && use.busy <= use.allocated + 1e-9));
}

const std::vector<std::string> kForesightFree = {"fixed", "shared", "static-even", "paris"};

RC_GTEST_PROP(ReplayProperty, EveryRequestIsSettledOnceAndTheJournalReportsIt, ()) {
  const Scenario scenario = any_scenario();
  for (const std::string policy : {"fixed", "shared", "whole", "static-even", "paris"}) {
    const Ran ran = testing::run_policy(scenario, policy);
    if (ran.result.infeasible) continue;
    check_recount(scenario, ran);
    const testing::Recount count = testing::recount(ran.journal, scenario);
    RC_ASSERT(std::abs(ran.result.figures.gpu_seconds * 1e6 - static_cast<double>(count.gpu_us)) < 1);
  }
}

RC_GTEST_PROP(ReplayProperty, AlsoWhileSlicesComeAndGo, (std::uint64_t seed)) {
  const Scenario scenario = any_scenario();
  check_recount(scenario, run_restless(scenario, seed));
  check_recount(scenario, run_restless(scenario, seed, Dispatch::kPush));
}

RC_GTEST_PROP(ReplayProperty, AlsoByRates, (std::uint64_t seed)) {
  Scenario scenario = any_scenario();
  scenario.fidelity = Fidelity::kRates;
  for (ServiceSpec& service : scenario.services) {
    for (PerformancePoint& point : service.table.points) {
      point.requests_per_second = point.requests_per_second * Decimal(1000);  // large enough to be served by rates
    }
  }
  check_recount(scenario, run_restless(scenario, seed));
}

RC_GTEST_PROP(ReplayProperty, TwiceTheSameBytes, (std::uint64_t seed)) {
  const Scenario scenario = any_scenario();
  RC_ASSERT(testing::shown(run_restless(scenario, seed).journal) ==
            testing::shown(run_restless(scenario, seed).journal));
  for (const std::string& policy : kForesightFree) {
    const std::string first = testing::shown(testing::run_policy(scenario, policy, seed).journal);
    // A run of another policy in between has no effect.
    static_cast<void>(testing::run_policy(scenario, "whole", seed));
    RC_ASSERT(testing::shown(testing::run_policy(scenario, policy, seed).journal) == first);
  }
}

/// The records before an instant: of slices, or all.
std::string journal_before(const Ran& ran, Instant until, bool is_slices_only) {
  std::string text;
  for (const sim::JournalRecord& record : ran.journal) {
    const Instant at = std::visit([](const auto& each) { return each.at; }, record);
    if (at < until && (!is_slices_only || std::holds_alternative<world::SliceRecord>(record)))
      text += testing::shown(record) + "\n";
  }
  return text;
}

RC_GTEST_PROP(ReplayProperty, AnEngineRestoredFromItsMemoryContinuesWithTheSameBytes, ()) {
  const Scenario scenario = any_scenario();
  const auto index = any_of<std::size_t>(0, policy::policies().size());
  const policy::Policy& row = policy::policies()[index];
  RC_PRE(!row.is_hindsight() && row.name != "migrator");  // whose integer programs take long
  const testing::RenewedRun straight = testing::run_renewed(scenario, row, testing::Renewal::kNever, 1);
  const testing::RenewedRun restored =
      testing::run_renewed(scenario, row, testing::Renewal::kRestored, any_of<std::uint64_t>(1, 4));
  RC_ASSERT(restored.is_feasible == straight.is_feasible);
  RC_ASSERT(restored.journal == straight.journal);
  RC_CLASSIFY(straight.is_feasible && restored.renewed > 0, std::string(row.name));
}

RC_GTEST_PROP(ReplayProperty, NobodyLooksAhead, (std::uint64_t seed)) {
  Scenario scenario = any_scenario();
  const std::int64_t seconds = scenario.simulated_seconds();
  for (ServiceSpec& service : scenario.services) {
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(seconds));
    for (std::uint32_t& count : counts) count = any_of<std::uint32_t>(0, 150);
    service.arrivals = testing::counted(counts);
  }
  const auto second = any_of<std::int64_t>(1, seconds);
  Scenario other = scenario;
  for (ServiceSpec& service : other.services) {
    auto& counts = std::get<CountTrace>(service.arrivals.source).counts;
    for (std::size_t i = static_cast<std::size_t>(second); i < counts.size(); ++i)
      counts[i] = any_of<std::uint32_t>(0, 150);
  }
  const Instant until = Instant::at_second(second);
  RC_ASSERT(journal_before(run_restless(scenario, seed), until, false) ==
            journal_before(run_restless(other, seed), until, false));
  for (const std::string& policy : kForesightFree) {
    // `shared` shows the better of two forms, which the whole run decides; its slices are the same in both.
    const bool is_slices_only = policy == "shared";
    RC_ASSERT(journal_before(testing::run_policy(scenario, policy, seed), until, is_slices_only) ==
              journal_before(testing::run_policy(other, policy, seed), until, is_slices_only));
  }
}

}  // namespace
}  // namespace berth::study
