/// What a fleet wants beyond the play of its load, because its services miss more than they may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/core/decimal.h"

namespace berth::elastic {

/// What a service has answered so far.
struct Answers {
  std::int64_t settled = 0;  ///< in time, late or dropped
  std::int64_t in_time = 0;
};

/// The play (purchase/scale/forecast_policy.h) takes a fleet for one server of all work. Slices of many services never
/// use a fleet as fully, and how far they fall short depends on the mix. So the surcharge grows while a service is
/// behind the attainment and goes on missing more than it may, by 1 % in 20 s, up to one half; it fades with a
/// half-life of 15 minutes. A fleet that keeps its attainment has none.
class Surcharge {
 public:
  Surcharge(const Decimal& attainment, std::size_t services);

  /// Another second is over; by ServiceId.
  void end_second(const std::vector<Answers>& answers);
  /// To be added to all work, as a share of it; in [0, 0.5].
  [[nodiscard]] double share() const { return share_; }

 private:
  double share_allowed_ = 0;                ///< of requests that may be missed
  std::vector<std::deque<Answers>> known_;  ///< by service, of the last minute, oldest first
  double share_ = 0;
};

}  // namespace berth::elastic
