/// Exact numbers as the doubles that are nearest to them. Decimal::to_double rounds towards 0: 0.9 becomes a double
/// below the one that 0.9 means elsewhere.
#pragma once

#include "base/core/decimal.h"

namespace berth {

/// The double nearest to a fraction, half to even. Requires: it is 0 or a normal double's size.
[[nodiscard]] double nearest_double(const Decimal& value);

}  // namespace berth
