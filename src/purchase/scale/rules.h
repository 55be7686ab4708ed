/// Common autoscalers as rules: target tracking (Kubernetes' horizontal autoscaler) and step bands.
#pragma once

#include <cstdint>
#include <deque>

#include "purchase/scale/problem.h"
#include "purchase/scale/run.h"

namespace berth::scale {

/// The parameters of target tracking.
struct Tracking {
  std::int64_t target_twentieths = 14;  ///< the wanted load of a replica, in twentieths of its rate; positive
  std::int64_t hold_seconds = 300;      ///< a lower number waits this long; positive

  friend bool operator==(const Tracking&, const Tracking&) = default;
};

/// Every 15 s from second 60 on: x = mean load of the last 15 s / (rate x target). The answer is the current number n
/// if n > 0 and |x / n - 1| <= 0.1, else ceil(x), at least 1. Scales up at once, and down only to the largest answer of
/// the last hold_seconds. Decides in exact whole numbers.
class TargetTracking {
 public:
  /// Requires: the problem outlives the rule.
  TargetTracking(const Problem& problem, Tracking tracking) : problem_(problem), tracking_(tracking) {}

  [[nodiscard]] std::int64_t want(const Moment& moment);

 private:
  struct Answer {
    std::int64_t second = 0;
    std::int64_t replicas = 0;
  };

  [[nodiscard]] std::int64_t answer(const Moment& moment) const;

  const Problem& problem_;
  Tracking tracking_;
  std::deque<Answer> answers_;  ///< of the last hold_seconds
};

/// Every 60 s from second 60 on: one replica more where the mean load of the last 60 s per replica is above 0.84 of its
/// rate (or there is none), one fewer, at least 1, where it is below 0.35. Requires: `moment` is of a run of `problem`.
[[nodiscard]] std::int64_t want_of_bands(const Problem& problem, const Moment& moment);

}  // namespace berth::scale
