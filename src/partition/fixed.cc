#include "partition/layout.h"

namespace berth::partition {

LayoutOrInfeasible fixed_layout(const Scenario& scenario) {
  if (!scenario.layout) return Infeasible{"the scenario has no layout"};
  Layout layout = *scenario.layout;
  std::erase_if(layout, [](const Holding& holding) { return holding.services.empty(); });
  return layout;
}

}  // namespace berth::partition
