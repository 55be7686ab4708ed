/// A client that sends each request at its time, whatever became of those before it (an open loop), over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/instant.h"

namespace berth::serving_bars {

/// One request, as it goes over the wire.
struct TimedRequest {
  Micros at;  ///< after the first one
  Micros target;
  std::string bytes;
};

/// What became of one request.
struct TimedAnswer {
  int status = 0;  ///< 0: none arrived
  Micros latency;  ///< from when it should have been sent until its last byte arrived
};

struct OpenLoopOutcome {
  std::vector<TimedAnswer> answers;  ///< of each request
  Micros lateness_max;               ///< of sending: above some ms the machine was too busy to measure
};

/// Sends them to 127.0.0.1 over connections that are kept, as many as it takes. Waits `patience` for the last answers.
/// Ends the program with a message if the server answers anything but HTTP/1.1 with a length.
[[nodiscard]] OpenLoopOutcome send_open_loop(std::uint16_t port, const std::vector<TimedRequest>& requests,
                                             Micros patience);

}  // namespace berth::serving_bars
