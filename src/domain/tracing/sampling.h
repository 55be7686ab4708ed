/// Which traces are recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "domain/tracing/trace_context.h"

namespace berth {

/// OpenTelemetry's samplers: `always_on` is a share of 1, `always_off` one of 0, `traceidratio` any.
struct Sampler {
  double share = 1;  ///< of the traces that begin here, 0 to 1
  bool follows_parent =
      true;  ///< parentbased_*: a trace that comes with a request is recorded if its caller records it

  friend bool operator==(const Sampler&, const Sampler&) = default;
};

/// Whether a trace is recorded here. `parent`: of the request; absent: the trace begins here. Equal trace ids of all
/// processes with the same share are treated alike.
[[nodiscard]] bool is_recorded(const Sampler& sampler, const TraceId& trace, const std::optional<TraceContext>& parent);

/// At most so many per second. A regular value.
class RateLimit {
 public:
  /// Requires: per_second >= 0.
  explicit RateLimit(std::int64_t per_second) : per_second_(per_second) {}

  /// Whether one more fits into the second of this time (microseconds, from any origin); counts it if so. A time before
  /// that of the last call counts for the same second.
  [[nodiscard]] bool take(std::int64_t now_us);

 private:
  std::int64_t per_second_;
  std::int64_t second_ = INT64_MIN;
  std::int64_t count_ = 0;
};

}  // namespace berth
