/// Lane time by tenant and model, by second of wall time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// Of one tenant with one version.
using LaneUser = std::pair<TenantIndex, ModelIndex>;

/// What ran in a span within one second. Times are microseconds since 1970.
struct LaneSpan {
  std::int64_t from_us = 0;
  std::int64_t to_us = 0;  ///< at most the end of its second
  std::map<LaneUser, Micros> used = {};

  friend bool operator==(const LaneSpan&, const LaneSpan&) = default;
};

/// A batch's time is divided among its tenants by rows; the remainder goes to the tenant of its oldest request. A batch
/// that runs counts in each second that it runs in. Times of the server come with what the wall clock shows then.
class LaneTime {
 public:
  explicit LaneTime(int lanes) : running_(static_cast<std::size_t>(lanes)) {}

  /// From the next `begin` on, spans are kept until `take_spans`.
  void keep_spans() { keeps_spans_ = true; }

  struct Time {
    Instant now;
    std::int64_t wall_us = 0;  ///< since 1970
  };
  /// Completes the seconds that have ended. To be called before every other function, with the same time.
  void advance(const Time& time);
  /// Ends the span that is under way: the wall clock is about to be set, or the server ends.
  void cut(const Time& time);
  /// The next span begins here: after `cut`, or at the start.
  void begin(const Time& time);

  void start(LaneIndex lane, ModelIndex model, std::span<const Request> requests, Instant now);
  /// Requires: a batch runs there.
  void end(LaneIndex lane, Instant now);

  /// Since the server began. What runs counts at its end, or with `keep_spans` up to the last second that has ended.
  [[nodiscard]] const std::map<LaneUser, Micros>& totals() const { return totals_; }
  /// Spans that have ended since the last call, with those in which nothing ran.
  [[nodiscard]] std::vector<LaneSpan> take_spans() { return std::exchange(spans_, {}); }

 private:
  struct Share {
    LaneUser user;
    std::int64_t rows = 0;
    Micros charged = {};
  };
  struct Running {
    Instant start;
    std::int64_t rows = 0;
    std::vector<Share> shares;  ///< the first is that of the oldest request's tenant
  };

  void charge(Running& running, Instant until);
  void charge_all(Instant until);
  void end_span(std::int64_t at_us);

  std::vector<std::optional<Running>> running_;
  std::map<LaneUser, Micros> totals_;
  LaneSpan span_;  ///< under way
  std::vector<LaneSpan> spans_;
  bool keeps_spans_ = false;
};

}  // namespace berth::serving
