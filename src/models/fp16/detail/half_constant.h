/// Weights in half precision.
#pragma once

#include <cstddef>

#include "models/graph/constant.h"

namespace berth::models {

struct HalfConstant {
  ConstantPtr constant;
  std::size_t clipped_count = 0;  ///< elements beyond the range, which became its ends
};

/// Rounded to the nearest; infinities and NaN stay. Requires: floats.
[[nodiscard]] HalfConstant half_constant(const Constant& constant);

}  // namespace berth::models
