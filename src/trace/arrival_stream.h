/// The arrivals of one service in one run: what the simulator draws from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "domain/arrivals.h"
#include "trace/detail/even_spacing.h"
#include "trace/detail/rate_shape.h"
#include "trace/detail/recorded_sums.h"
#include "trace/detail/uniform_offsets.h"

namespace berth {

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
  ArrivalStream(const Arrivals& arrivals, Rng rng);
  ArrivalStream(Arrivals&&, Rng) = delete;

  /// Requests in a second; 0 from the window's end on, and where the trace has no requests. A trace at scale 1: a few
  /// ns.
  [[nodiscard]] std::int64_t count(std::int64_t second) const;

  /// Whether the trace has this second of the window or before it, so that a count of 0 means "no requests" and not
  /// "unknown". The trace of a generator reaches from its second 0 to the end of the window.
  [[nodiscard]] bool has_history(std::int64_t second) const;

  /// Puts the offsets of a second's requests from its beginning into `out`: microseconds in [0, 10^6), ascending, in
  /// the trace's order, as many as `count` says. O(count), about 10 ns per request; the first second requested of a
  /// MinuteTrace's minute costs O(calls of the minute).
  void offsets(std::int64_t second, std::vector<std::uint32_t>& out) const;

 private:
  // A trace at scale 1, as it is.
  struct RecordedCounts {};
  struct RecordedTimes {};
  struct RecordedMinutes {};
  // Drawn from a Poisson distribution around a mean, or spaced evenly.
  struct Scaled {
    detail::RecordedSums sums;
    double scale = 1;
    std::int64_t smooth_seconds = 1;
  };
  struct Steady {
    double rate = 0;
  };
  struct Bursty {
    double rate = 0;
    detail::BurstyShape shape;
  };
  struct Diurnal {
    double rate = 0;
    detail::DiurnalShape shape;
  };
  using Law = std::variant<RecordedCounts, RecordedTimes, RecordedMinutes, Scaled, detail::EvenSpacing, Steady, Bursty,
                           Diurnal>;

  /// What was read last, so that reading on is fast; never changes an answer.
  struct Remembered {
    std::int64_t drawn_second = -1;  ///< of `drawn_count`
    std::int64_t drawn_count = 0;
    std::int64_t minute = -1;  ///< of `minute_counts`
    std::array<std::uint32_t, 60> minute_counts{};
    std::int64_t timed_second = -1;  ///< of `timed_begin` and `timed_end`, indices of requests
    std::size_t timed_begin = 0;
    std::size_t timed_end = 0;
    detail::UniformOffsets uniform;
  };

  [[nodiscard]] static Law law_of(const Arrivals& arrivals, Rng rng);
  [[nodiscard]] static Law generator_law_of(const Arrivals& arrivals, Rng rng);
  /// The trace's second, if it lies in the window or its history, and in the trace.
  [[nodiscard]] std::optional<std::int64_t> trace_second(std::int64_t second) const;
  [[nodiscard]] std::int64_t count_at(std::int64_t trace_second) const;
  [[nodiscard]] std::int64_t drawn_count(std::int64_t trace_second) const;
  /// Of the distributions around a mean. Requires: not one of the others.
  [[nodiscard]] double mean_at(std::int64_t trace_second) const;
  void read_minute(std::int64_t minute) const;
  void read_times(std::int64_t trace_second) const;

  const Arrivals* arrivals_;
  Rng rng_;
  std::int64_t trace_seconds_;
  Law law_;
  mutable Remembered remembered_;
};

/// Says which second would get a mean above kRequestsPerSecondMax after scaling; nothing if none would. Bursty and
/// diurnal generators reach up to 3 times their mean. Exact. O(seconds of the trace), at scale 1 O(1). Requires: scale
/// > 0, smooth_seconds > 0.
[[nodiscard]] std::optional<std::string> find_overload(const Arrivals& arrivals);

}  // namespace berth
