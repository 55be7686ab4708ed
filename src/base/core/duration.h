/// Durations as users write them, in seconds or milliseconds with a fraction, in whole microseconds.
#pragma once

#include "base/core/decimal.h"
#include "base/core/instant.h"

namespace berth {

/// A duration given in seconds, as whole microseconds rounded half up. Requires: `seconds.fits_int64()` after the
/// scaling.
[[nodiscard]] Micros micros_from_seconds(const Decimal& seconds);
/// A duration given in milliseconds, likewise.
[[nodiscard]] Micros micros_from_millis(const Decimal& millis);

}  // namespace berth
