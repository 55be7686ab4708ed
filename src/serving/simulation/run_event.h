/// What happens in a run.
#pragma once

#include <functional>

#include "serving/dispatch/order.h"

namespace berth::serving {

/// What happens in a run, as the log has it: batches and loads with their ends.
struct RunEvent {
  Instant at;
  Order order;
  Instant end;  ///< of a batch or a load
};

using RunListener = std::function<void(const RunEvent&)>;

}  // namespace berth::serving
