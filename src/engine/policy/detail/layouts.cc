#include "engine/policy/detail/layouts.h"

#include <memory>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "engine/loop/restore_stage.h"
#include "engine/loop/stages.h"
#include "engine/rivals/ignored_constraints.h"

namespace berth::policy::detail {
namespace {

using Decide = std::function<partition::LayoutOrInfeasible(const Snapshot&)>;

/// The stages of a policy that decides once, and the fields that its layout does not obey.
MadePolicy of_layout(const Inputs& inputs, std::string name, Decide decide) {
  const auto layout = std::make_shared<partition::Layout>();
  MadePolicy made;
  made.stages.push_back(
      first_layout_stage(std::move(name), [layout, decide = std::move(decide)](const Snapshot& snapshot) {
        partition::LayoutOrInfeasible decided = decide(snapshot);
        if (const auto* feasible = std::get_if<partition::Layout>(&decided)) *layout = *feasible;
        return decided;
      }));
  made.ignored_constraints = [layout, &scenario = inputs.scenario] {
    return partition::ignored_constraints(scenario, *layout);
  };
  return made;
}

}  // namespace

MadePolicy layout_once(const Inputs& inputs, std::string name, Decide decide) {
  MadePolicy made = of_layout(inputs, std::move(name), std::move(decide));
  made.stages.push_back(retraining_stage(inputs.scenario));
  return made;
}

std::vector<double> total_requests(const Inputs& inputs) {
  ENSURE(inputs.arrivals != nullptr);
  std::vector<double> totals;
  for (std::uint32_t index = 0; index < inputs.scenario.services.size(); ++index) {
    double total = 0;
    for (std::int64_t second = 0; second < inputs.scenario.services[index].arrivals.seconds; ++second) {
      total += static_cast<double>(inputs.arrivals(ServiceId{index}, second));
    }
    totals.push_back(total);
  }
  return totals;
}

MadePolicy make_fixed(const Inputs& inputs) {
  // The file names the slices that retrain, so none is lent.
  MadePolicy made = of_layout(
      inputs, "fixed", [&scenario = inputs.scenario](const Snapshot&) { return partition::fixed_layout(scenario); });
  if (inputs.scenario.layout) made.stages.push_back(restore_stage(inputs.scenario));
  return made;
}

MadePolicy make_shared(const Inputs& inputs) {
  return layout_once(inputs, "shared",
                     [&scenario = inputs.scenario](const Snapshot&) { return partition::shared_layout(scenario); });
}

MadePolicy make_whole(const Inputs& inputs) {
  return layout_once(inputs, "whole", [&scenario = inputs.scenario, totals = total_requests(inputs)](const Snapshot&) {
    return partition::whole_layout(scenario, totals);
  });
}

MadePolicy make_static_even(const Inputs& inputs) {
  return layout_once(inputs, "static-even", [&scenario = inputs.scenario](const Snapshot&) {
    return partition::static_even_layout(scenario);
  });
}

MadePolicy make_paris(const Inputs& inputs) {
  return layout_once(inputs, "paris", [&scenario = inputs.scenario](const Snapshot& snapshot) {
    return partition::paris_layout(scenario, history_counts(snapshot));
  });
}

}  // namespace berth::policy::detail
