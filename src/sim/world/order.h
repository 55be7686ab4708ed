/// Orders to the world. They are counted, and the world remembers how many it has carried out, so that none is lost or
/// done twice when a process ends.
#pragma once

#include <cstdint>
#include <variant>

#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "sim/world/fault_book.h"

namespace berth::sim {

/// A plan takes effect.
struct PlanOrder {
  Plan plan;
  bool is_first_layout = false;
};
/// A fault that was admitted takes effect.
struct FaultInjection {
  std::uint64_t id = 0;
  FaultOrder fault;
};
using Order = std::variant<PlanOrder, ServiceSet, ServiceRemoved, FaultInjection>;

}  // namespace berth::sim
