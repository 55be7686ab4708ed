/// The arrivals of one service in one run: what the simulator draws from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "domain/values/arrivals.h"

namespace berth {

/// How often a window with `repeat: true` is played: once in a replay, endlessly in a live world.
enum class Laps : std::uint8_t { kOne, kEndless };

/// The arrivals of each second, as a pure function of (arrivals, seed, second): any second may be requested at any
/// time, in any order and again, and gives the same answer, so nothing is stored and no caller can look ahead by
/// drawing.
///
/// Seconds are those of the run; its second s is the trace's second from_second + s. Negative ones are history. Draws
/// depend on the trace's second, so that another window of the same trace and seed sees the same requests.
///
/// A stream caches the second (or minute) that was read last, so two threads need two streams; copies are cheap.
class ArrivalStream {
 public:
  /// Keeps a reference to `arrivals`. Requires: from_second >= 0, seconds > 0, smooth_seconds > 0, scale > 0, and
  /// `find_overload` returns nothing.
  ArrivalStream(const Arrivals& arrivals, Rng rng, Laps laps = Laps::kOne);
  ArrivalStream(Arrivals&&, Rng, Laps = Laps::kOne) = delete;
  /// Shares the arrivals, which begin at a later second of the run: there are none before it, and no history.
  ArrivalStream(std::shared_ptr<const Arrivals> arrivals, Rng rng, Laps laps, std::int64_t begins_at_second = 0);
  ArrivalStream(const ArrivalStream& other);
  ArrivalStream(ArrivalStream&& other) noexcept;
  ArrivalStream& operator=(const ArrivalStream& other);
  ArrivalStream& operator=(ArrivalStream&& other) noexcept;
  ~ArrivalStream();

  /// Requests in a second; 0 after the window's end (with Laps::kEndless and `repeat: true` the window starts again
  /// with the same requests) and where the trace has no requests. A trace at scale 1 costs a few ns.
  [[nodiscard]] std::int64_t count(std::int64_t second) const;

  /// Whether the trace has this second of the window or before it, so that a count of 0 means "no requests" and not
  /// "unknown". The trace of a generator reaches from its second 0 to the end of the window.
  [[nodiscard]] bool has_history(std::int64_t second) const;

  /// Puts the offsets of a second's requests from its beginning into `out`: microseconds in [0, 10^6), ascending, in
  /// the trace's order, as many as `count` says. O(count), about 10 ns per request; the first second requested of a
  /// MinuteTrace's minute costs O(calls of the minute).
  void offsets(std::int64_t second, std::vector<std::uint32_t>& out) const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

/// Says which second would get a mean above kRequestsPerSecondMax after scaling; nothing if none would. Bursty and
/// diurnal generators reach up to 3 times their mean. Exact. O(seconds of the trace), at scale 1 O(1). Requires: scale
/// > 0, smooth_seconds > 0.
[[nodiscard]] std::optional<std::string> find_overload(const Arrivals& arrivals);

}  // namespace berth
