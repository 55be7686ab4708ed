/// What a dispatcher orders, and what becomes of requests.
#pragma once

#include <variant>
#include <vector>

#include "serving/dispatch/expected_wait.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// A batch begins on a free lane. `expected` is its time by the model's latencies.
struct StartBatch {
  LaneIndex lane;
  ModelIndex model;
  std::vector<Request> requests;  ///< the most urgent first
  Micros expected;
};

/// A model begins to load; its bytes are reserved from now on.
struct StartLoad {
  ModelIndex model;
};

/// A model leaves the memory; its bytes are free from now on.
struct Evict {
  ModelIndex model;
};

/// A request is refused when it arrives: it would be late, as `wait` says.
struct Reject {
  Request request;
  ExpectedWait wait;
};

/// A waiting request is discarded: it can no longer be in time.
struct Drop {
  Request request;
};

using Order = std::variant<StartBatch, StartLoad, Evict, Reject, Drop>;

}  // namespace berth::serving
