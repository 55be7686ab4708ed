#include "sim/study/elastic_run.h"

#include <algorithm>
#include <utility>

#include "engine/policy/registry.h"
#include "sim/measure/figures.h"
#include "sim/measure/timeline.h"
#include "sim/world/run.h"

namespace berth::study {
namespace {

/// Shares of the GPU-time that was paid for, instead of the fleet's.
measure::Utilisation of_paid(const measure::Utilisation& of_fleet, double fleet_us, double paid_us) {
  const double factor = paid_us > 0 ? fleet_us / paid_us : 0;
  return {.allocated = of_fleet.allocated * factor,
          .busy = of_fleet.busy * factor,
          .effective = of_fleet.effective * factor};
}

}  // namespace

Scenario elastic_scenario(const Scenario& scenario, std::int64_t gpus) {
  Scenario elastic = scenario;
  elastic.fleet.erase(elastic.fleet.begin() + 1, elastic.fleet.end());
  elastic.fleet.front().count = gpus;
  elastic.layout.reset();
  return elastic;
}

Result<ElasticOutcome> run_elastic(const Scenario& scenario, std::uint64_t seed, ElasticRun run,
                                   const std::function<bool(double)>& progress, const sim::JournalSink& journal) {
  const policy::Policy& row = policy::policy_named(run.policy);
  std::optional<measure::TimelineBuilder> timeline;
  if (run.has_timeline) timeline.emplace(scenario, row.sharings.front());
  sim::RunOptions options;
  options.loop.seed = seed;
  options.loop.world.sharing = row.sharings.front();
  options.loop.world.dispatch = row.dispatch;
  options.loop.world.only = run.only;
  options.loop.world.gpus_at_start = run.gpus_at_start;
  options.loop.is_strict = row.obeys_constraints;
  options.loop.has_warm_pools = row.obeys_warm_pools;
  options.progress = progress;
  if (timeline || journal) {
    options.loop.listener.journal = [&](const sim::JournalRecord& record) {
      if (timeline) timeline->add(record);
      if (journal) journal(record);
    };
  }
  const auto outcome = sim::run_scenario(scenario, std::move(run.stages), options);
  if (!outcome) return pass_on(outcome.error());
  ElasticOutcome measured{.infeasible = outcome->infeasible, .result = {}, .counts = {}};
  if (outcome->infeasible) return measured;
  const sim::World& world = *outcome->world;
  measure::measure(scenario, world, measured.result);
  measured.counts = world.rented().counts();
  measured.paid_us = world.rented().paid_us(world.end());
  measured.refusals = outcome->refusals;
  const double fleet_us = static_cast<double>(scenario.gpu_count()) * static_cast<double>(world.end().micros());
  measured.result.figures.utilisation =
      of_paid(measured.result.figures.utilisation, fleet_us, static_cast<double>(measured.paid_us));
  if (timeline) measured.result.timeline = timeline->finish();
  return measured;
}

bool holds(const std::vector<measure::ServiceFigures>& services, const Decimal& attainment) {
  return std::ranges::all_of(services, [&](const measure::ServiceFigures& service) {
    const measure::Figures& figures = service.figures;
    return figures.requests == 0 || Decimal(figures.in_time, figures.requests) >= attainment;
  });
}

}  // namespace berth::study
