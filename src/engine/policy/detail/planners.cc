#include "engine/policy/detail/planners.h"

#include <utility>

#include "base/core/ensure.h"
#include "engine/loop/outlook.h"
#include "engine/loop/planner_policy.h"

namespace berth::policy::detail {
namespace {

MadePolicy planner_of(const Inputs& inputs, OutlookSource outlook) {
  MadePolicy made;
  made.stages.push_back(planner_stage(inputs.scenario, std::move(outlook), inputs.settings.berth));
  return made;
}

}  // namespace

bool planner_replans(const Settings& settings) { return settings.berth.recuts != 0; }

MadePolicy make_berth(const Inputs& inputs) {
  OutlookSource outlook = forecast_outlook(inputs.scenario);
  if (inputs.watch_forecasts) outlook = inputs.watch_forecasts(std::move(outlook));
  return planner_of(inputs, std::move(outlook));
}

MadePolicy make_clairvoyant(const Inputs& inputs) {
  ENSURE(inputs.arrivals != nullptr);
  const bool knows_loads = inputs.settings.clairvoyant.loads != 0;
  return planner_of(inputs, knows_loads ? known_outlook(inputs.scenario, inputs.arrivals)
                                        : known_counts_outlook(inputs.scenario, inputs.arrivals));
}

}  // namespace berth::policy::detail
