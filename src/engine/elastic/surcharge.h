/// The capacity that a fleet needs beyond the simulated need of its load, because its services miss more than they may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/core/decimal.h"

namespace berth::elastic {

/// The answers of a service so far.
struct Answers {
  std::int64_t settled = 0;  ///< in time, late or dropped
  std::int64_t in_time = 0;
};

/// The simulation (purchase/scale/forecast_policy.h) treats a fleet as one server of all work. Slices of many services
/// never use a fleet as fully, and the shortfall depends on the mix. So the surcharge grows by 1 % per 20 s, up to one
/// half, while a service is behind its attainment and still misses more than it may; it fades with a half-life of 15
/// minutes. A fleet that keeps its attainment has none.
class Surcharge {
 public:
  Surcharge(const Decimal& attainment, std::size_t services);

  /// To be called once per second. `answers` by ServiceId.
  void end_second(const std::vector<Answers>& answers);
  /// The share to add to all work, in [0, 0.5].
  [[nodiscard]] double share() const { return share_; }

 private:
  double share_allowed_ = 0;                ///< of requests that may be missed
  std::vector<std::deque<Answers>> known_;  ///< by service, of the last minute, oldest first
  double share_ = 0;
};

}  // namespace berth::elastic
