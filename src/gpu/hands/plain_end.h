/// Outcomes of orders for which no call was made.
#pragma once

#include <string>
#include <utility>

#include "domain/ports/gpu_hands.h"

namespace berth::edges {

[[nodiscard]] inline DeviceEnd plain_end(const DeviceOrder& order, DeviceOutcome outcome, std::string message) {
  DeviceEnd end;
  end.intent = order.intent;
  end.outcome = outcome;
  end.message = std::move(message);
  return end;
}

}  // namespace berth::edges
