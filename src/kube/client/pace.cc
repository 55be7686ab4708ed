#include "kube/client/pace.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::kube {

Pace::Pace(std::int64_t per_second, std::int64_t burst)
    : interval_(kMicrosPerSecond / std::max<std::int64_t>(per_second, 1)), slack_(interval_ * (burst - 1)) {
  ENSURE(per_second > 0 && burst > 0);
}

Instant Pace::reserve(Instant now) {
  const Instant earliest = now - slack_;
  if (is_fresh_ || next_ < earliest) next_ = earliest;
  is_fresh_ = false;
  const Instant at = std::max(next_, now);
  next_ = next_ + interval_;
  return at;
}

bool Pace::try_take(Instant now) {
  if (!is_fresh_ && next_ > now) return false;
  return reserve(now) <= now;
}

}  // namespace berth::kube
