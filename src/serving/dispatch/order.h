/// What a dispatcher orders, and what becomes of requests.
#pragma once

#include <cstdint>
#include <string>
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
  bool is_preload = false;  ///< no request asked for it: one is expected
};

/// A model leaves the memory; its bytes are free from now on.
struct Evict {
  ModelIndex model;
};

enum class QueueBound { kModelRequests, kRequests, kBytes };

/// A queue has no room.
struct FullQueue {
  QueueBound bound = QueueBound::kModelRequests;
  std::int64_t waiting = 0;  ///< requests or bytes, without the new request
  std::int64_t limit = 0;
};

/// The model takes no requests: it was withdrawn or let go, it can never fit into the memory, or there is no lane.
struct NotServed {};

/// An expected wait: the request would be late.
using RejectReason = std::variant<ExpectedWait, FullQueue, NotServed>;

/// A request is refused when it arrives.
struct Reject {
  Request request;
  RejectReason reason;
};

/// For its client: one sentence without a full stop, with the numbers.
[[nodiscard]] std::string describe(const Reject& reject);

/// A waiting request is discarded: it can no longer be in time.
struct Drop {
  Request request;
};

using Order = std::variant<StartBatch, StartLoad, Evict, Reject, Drop>;

}  // namespace berth::serving
