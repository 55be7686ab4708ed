#include "base/core/duration.h"

namespace berth {

Micros micros_from_seconds(const Decimal& seconds) {
  return Micros((seconds * Decimal(kMicrosPerSecond)).round_half_up());
}

Micros micros_from_millis(const Decimal& millis) { return Micros((millis * Decimal(1000)).round_half_up()); }

}  // namespace berth
