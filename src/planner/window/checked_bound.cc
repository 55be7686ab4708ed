#include "planner/window/checked_bound.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::planner {

double checked_bound(double proven, double objective) {
  const double slack = kBoundTolerance * std::max(1.0, std::abs(objective));
  ENSURE(objective <= proven + slack);
  return std::max(proven, objective);
}

}  // namespace berth::planner
