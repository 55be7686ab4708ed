#include "serving/dispatch/model_demand.h"

#include <algorithm>

namespace berth::serving {

void ModelDemand::learn_arrival(Instant now, RowCount rows) {
  recent_.add(now, rows);
  last_[count_ % kRemembered] = now;
  ++count_;
}

double ModelDemand::requests_per_second(Instant now) const {
  if (count_ == 0) return 0;
  const auto known = std::min<std::uint64_t>(count_, kRemembered);
  const Instant oldest = last_[(count_ - known) % kRemembered];
  // The first request of a burst says nothing of its rate: no span is shorter than a second.
  return static_cast<double>(known) / std::max((now - oldest).to_seconds(), 1.0);
}

}  // namespace berth::serving
