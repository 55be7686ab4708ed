/// Arrivals of one service: a recorded trace or a generator, and the window of it that a run uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/core/decimal.h"

namespace berth {

/// Requests counted by second; `counts[s]` are those of the trace's second s.
struct CountTrace {
  std::vector<std::uint32_t> counts;
  friend bool operator==(const CountTrace&, const CountTrace&) = default;
};

/// Calls counted by minute (azure-functions); a minute's calls are placed uniformly at random in it. The trace's second
/// 0 begins the first minute.
struct MinuteTrace {
  std::vector<std::uint32_t> counts;
  friend bool operator==(const MinuteTrace&, const MinuteTrace&) = default;
};

/// Requests with their own times, in microseconds since the trace's second 0, ascending, and their tokens.
struct TimedTrace {
  struct Request {
    std::int64_t at_us = 0;
    std::uint32_t context_tokens = 0;
    std::uint32_t generated_tokens = 0;
    friend bool operator==(const Request&, const Request&) = default;
  };
  std::vector<Request> requests;
  std::int64_t seconds = 0;  ///< length of the trace: the last request's second + 1
  friend bool operator==(const TimedTrace&, const TimedTrace&) = default;
};

/// Generated arrivals, with a mean rate.
struct Generator {
  enum class Kind { kConstant, kPoisson, kBursty, kDiurnal };
  Kind kind = Kind::kConstant;
  Decimal requests_per_second;  ///< the mean, >= 0
  friend bool operator==(const Generator&, const Generator&) = default;
};

/// A service's `arrivals:`, with the trace that it names already read.
struct Arrivals {
  std::variant<CountTrace, MinuteTrace, TimedTrace, Generator> source;
  std::int64_t from_second = 0;      ///< the trace's second that is second 0 of the run; >= 0 and within the trace
  std::int64_t seconds = 0;          ///< length of the window, > 0 if load is given; may reach beyond the trace
  Decimal scale = Decimal(1);        ///< > 0; multiplies the load, not the noise
  std::int64_t smooth_seconds = 60;  ///< > 0
  bool repeat = false;               ///< in a live world the window starts again; a replay ends with it

  /// Whether load is given: always in a file. A service of an API may have none; then all fields have their defaults.
  [[nodiscard]] bool is_given() const { return seconds > 0; }
  friend bool operator==(const Arrivals&, const Arrivals&);
};

/// More requests in one second than this are an error, in every format and after scaling (mean).
inline constexpr std::int64_t kRequestsPerSecondMax = 10'000'000;
/// The longest trace and window, in seconds (about 34 years).
inline constexpr std::int64_t kTraceSecondsMax = 1'073'741'824;

}  // namespace berth
