#include "sim/study/packing_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/duration.h"
#include "base/core/ensure.h"
#include "engine/loop/engine.h"
#include "sim/world/latency_histogram.h"
#include "sim/world/run.h"

namespace berth::study {
namespace {

/// If one run has more requests than this, large services are served by rates.
constexpr std::int64_t kRequestsExactMax = 100'000'000;

/// The service of each demand, in the order of the demands; nothing if it has no slice.
std::vector<std::optional<ServiceId>> services_of(const PackingProblem& problem, const Packing& packing) {
  std::vector<bool> has_slice(problem.demands.size());
  for (const PackedSlice& slice : packing.slices) has_slice[slice.demand] = true;
  std::vector<std::optional<ServiceId>> services(problem.demands.size());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (has_slice[i]) services[i] = ServiceId{count++};
  }
  return services;
}

std::vector<FleetEntry> fleet_of(const PackingProblem& problem, const Packing& packing) {
  std::vector<FleetEntry> fleet;
  for (std::size_t gpu = 0; gpu < packing.gpu_offers.size(); ++gpu) {
    if (gpu > 0 && packing.gpu_offers[gpu] == packing.gpu_offers[gpu - 1]) {
      ++fleet.back().count;
    } else {
      fleet.push_back({.model = problem.offers[packing.gpu_offers[gpu]].model, .count = 1, .usd_per_gpu_hour = {}});
    }
  }
  return fleet;
}

ServiceSpec service_of(const PackingProblem& problem, std::size_t index, std::int64_t seconds) {
  const Demand& demand = problem.demands[index];
  const PerformanceTable* table = problem.table_of(demand.model);
  ENSURE(table != nullptr);
  ServiceSpec service;
  service.name = fmt::format("{} {}", index, demand.model);  // tenant and model need not join to something unique
  service.tenant = demand.tenant;
  service.target_ms = demand.latency_ms;
  service.target = std::max(micros_from_millis(demand.latency_ms), Micros(1));
  service.batching = {.slo_factor = problem.rules.slo_factor, .processes_max = problem.rules.processes_max};
  service.arrivals.source = Generator{Generator::Kind::kPoisson, demand.requests_per_second};
  service.arrivals.seconds = seconds;
  service.start = Micros(0);
  service.table = *table;
  return service;
}

/// A stage that creates the plan's slices at second 0, each at the plan's point, and after that plans nothing.
Stage packing_stage(const Packing& packing, const std::vector<std::optional<ServiceId>>& services) {
  const auto run = [&](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    if (!snapshot.slices.empty() || snapshot.now != Instant()) return std::nullopt;
    const Reason reason{.text = "packed", .numbers = {}};
    plan.actions.reserve(2 * packing.slices.size());
    for (const PackedSlice& packed : packing.slices) {
      const Holding holding{
          .slice = packed.slice, .role = Role::kInference, .services = {services[packed.demand].value()}};
      const PointChoice point{.variant = 0, .batch = packed.batch, .processes = packed.processes};
      plan.actions.push_back({.what = CreateSlice{packed.slice}, .reason = reason});
      plan.actions.push_back({.what = AssignSlice{.holding = holding, .point = point}, .reason = reason});
    }
    return std::nullopt;
  };
  return deciding_stage("packing", run);
}

Fidelity fidelity_of(const Scenario& scenario, const PackingReplayOptions& options) {
  Decimal requests;
  for (const ServiceSpec& service : scenario.services) {
    requests += std::get<Generator>(service.arrivals.source).requests_per_second * Decimal(options.seconds);
  }
  return requests > Decimal(kRequestsExactMax) ? Fidelity::kRates : Fidelity::kRequests;
}

void set_loads(const PackingProblem& problem, const Packing& packing, PackingReplay& replay) {
  std::vector<Decimal> capacities(problem.demands.size());
  for (const PackedSlice& slice : packing.slices) capacities[slice.demand] += slice.requests_per_second;
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i].sign() == 0) continue;
    replay.demands[i].load = (problem.demands[i].requests_per_second / capacities[i]).to_double();
  }
}

/// Adds the counts of a run to those of the demands.
void add_run(const sim::World& world, const std::vector<std::optional<ServiceId>>& services, PackingReplay& replay,
             std::vector<sim::LatencyHistogram>& latencies) {
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (!services[i]) continue;
    const sim::ServiceMeter& meter = world.meters()[services[i]->index];
    replay.demands[i].requests += meter.totals().requests;
    replay.demands[i].in_time += meter.totals().in_time;
    latencies[services[i]->index].add_all(meter.latencies());
  }
}

}  // namespace

Scenario packing_scenario(const PackingProblem& problem, const Packing& packing, std::int64_t seconds) {
  Scenario scenario;
  scenario.name = "packing";
  scenario.fleet = fleet_of(problem, packing);
  scenario.history_seconds = 0;
  const auto services = services_of(problem, packing);
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (services[i]) scenario.services.push_back(service_of(problem, i, seconds));
  }
  return scenario;
}

PackingReplay replay_packing(const PackingProblem& problem, const Packing& packing,
                             const PackingReplayOptions& options) {
  ENSURE(options.seconds > 0 && !options.seeds.empty());
  PackingReplay replay{.seconds = options.seconds, .seeds = options.seeds, .demands = {}};
  replay.demands.resize(problem.demands.size());
  set_loads(problem, packing, replay);
  if (packing.slices.empty()) return replay;
  Scenario scenario = packing_scenario(problem, packing, options.seconds);
  scenario.fidelity = replay.fidelity = fidelity_of(scenario, options);
  const auto services = services_of(problem, packing);
  std::vector<sim::LatencyHistogram> latencies(scenario.services.size());
  for (const std::uint64_t seed : options.seeds) {
    sim::RunOptions run;
    run.loop.seed = seed;
    const auto outcome = sim::run_scenario(scenario, {packing_stage(packing, services)}, run);
    ENSURE(outcome.has_value() && outcome->world != nullptr);  // nothing stops it, and the stage always plans
    add_run(*outcome->world, services, replay, latencies);
  }
  for (std::size_t i = 0; i < services.size(); ++i) {
    DemandFigures& figures = replay.demands[i];
    if (figures.requests > 0) {
      figures.slo_attainment = static_cast<double>(figures.in_time) / static_cast<double>(figures.requests);
    }
    if (services[i]) figures.latency_p99_ms = latencies[services[i]->index].percentile_ms(99);
  }
  return replay;
}

}  // namespace berth::study
