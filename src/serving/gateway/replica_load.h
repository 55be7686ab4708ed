/// How soon a replica would have answered one more request.
#pragma once

#include <cstdint>
#include <span>

#include "base/core/instant.h"
#include "domain/values/endpoints.h"

namespace berth::serving {

/// Of a batch of a replica whose times are not known.
inline constexpr Micros kUnknownLatency = Micros(10'000);

/// When the last of `count` requests that begin now is answered, by the table of batch times: full batches of the
/// largest size one after the other, then the rest as the smallest batch that holds it. Without a table each request
/// takes kUnknownLatency. 0 for no request. O(sizes). Requires: sizes ascend.
[[nodiscard]] double predicted_completion_us(std::span<const BatchLatency> latencies, std::int64_t count);

/// How much longer requests take than predicted: an average of the last ones, which is forgotten without new ones, so
/// that a replica that was slow once is tried again.
class SlowdownAverage {
 public:
  void measure(double predicted_us, double measured_us, Instant now);
  [[nodiscard]] double factor(Instant now) const;

 private:
  double factor_ = 1;
  Instant measured_at_;
};

}  // namespace berth::serving
