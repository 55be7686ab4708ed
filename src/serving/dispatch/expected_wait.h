/// What a request waits for.
#pragma once

#include <string>

#include "base/core/instant.h"

namespace berth::serving {

/// What stands between a request and its answer. Optimistic: batches as large as can be in time, all lanes at work.
struct ExpectedWait {
  Micros running;    ///< until a lane is free
  Micros ahead;      ///< more urgent requests, on all lanes
  Micros load;       ///< until the model is resident; 0 if it is
  Micros own_batch;  ///< a batch of this request alone

  /// Until the answer, with the model resident.
  [[nodiscard]] Micros without_load() const { return running + ahead + own_batch; }
  /// Until the answer: lanes work while the model is loaded.
  [[nodiscard]] Micros total() const { return load > running + ahead ? load + own_batch : without_load(); }
};

/// For a client: "it would take at least 132.5 ms, and its target leaves 25 ms: ..." with every part that is not 0.
/// `left` is the time until the request's deadline.
[[nodiscard]] std::string describe(const ExpectedWait& wait, Micros left);

}  // namespace berth::serving
