#include "kube/client/back_off.h"

#include <algorithm>
#include <cstdint>

namespace berth::kube {

Micros BackOff::next(Rng& rng) {
  Micros wait = first_;
  for (int i = 0; i < failure_count_ && wait < last_; ++i) wait = std::min(wait * 2, last_);
  if (failure_count_ < INT32_MAX) ++failure_count_;
  const std::int64_t half = wait.count() / 2;
  return Micros(wait.count() - half + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(half) + 1)));
}

}  // namespace berth::kube
