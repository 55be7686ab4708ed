/// How the requests of a service ended.
#pragma once

#include <cstdint>

namespace berth {

/// Each request counts once: requests = in_time + late + dropped + unfinished, once all of them are settled.
struct RequestCounts {
  std::int64_t requests = 0;    ///< arrived
  std::int64_t in_time = 0;     ///< answered within the latency target
  std::int64_t late = 0;        ///< answered after it
  std::int64_t dropped = 0;     ///< discarded without an answer
  std::int64_t unfinished = 0;  ///< neither answered nor dropped when the run ended

  RequestCounts& operator+=(const RequestCounts& other) {
    requests += other.requests;
    in_time += other.in_time;
    late += other.late;
    dropped += other.dropped;
    unfinished += other.unfinished;
    return *this;
  }
  friend bool operator==(const RequestCounts&, const RequestCounts&) = default;
};

}  // namespace berth
