#include "engine/policy/detail/planners.h"

#include <utility>

#include "base/core/ensure.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_policy.h"
#include "engine/rivals/ignored_constraints.h"

namespace berth::policy::detail {
namespace {

MadePolicy planner_of(const Inputs& inputs, OutlookSource outlook, const PlannerOptions& options) {
  MadePolicy made;
  made.stages.push_back(planner_stage(inputs.scenario, std::move(outlook), options));
  return made;
}

}  // namespace

bool planner_replans(const Settings& settings) { return settings.berth.recuts != 0; }

MadePolicy make_berth(const Inputs& inputs) {
  OutlookSource outlook = forecast_outlook(inputs.scenario);
  if (inputs.watch_forecasts) outlook = inputs.watch_forecasts(std::move(outlook));
  // Only forecasts err: who knows the arrivals needs no spare capacity.
  PlannerOptions options = inputs.settings.berth;
  options.loads_are_forecasts = true;
  return planner_of(inputs, std::move(outlook), options);
}

MadePolicy make_clairvoyant(const Inputs& inputs) {
  ENSURE(inputs.arrivals != nullptr);
  const bool knows_loads = inputs.settings.clairvoyant.loads != 0;
  MadePolicy made = planner_of(inputs,
                               knows_loads ? known_outlook(inputs.scenario, inputs.arrivals)
                                           : known_counts_outlook(inputs.scenario, inputs.arrivals),
                               inputs.settings.berth);
  made.ignored_constraints = [&scenario = inputs.scenario] { return partition::warm_pools_ignored(scenario); };
  return made;
}

}  // namespace berth::policy::detail
