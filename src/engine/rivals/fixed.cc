#include "engine/rivals/layout.h"

namespace berth::partition {

LayoutOrInfeasible fixed_layout(const Scenario& scenario) {
  if (!scenario.layout && scenario.gpu_count() == 0) return Layout();
  if (!scenario.layout) return Infeasible{"the scenario has no layout"};
  return *scenario.layout;
}

}  // namespace berth::partition
