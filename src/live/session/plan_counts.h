/// How many plans and actions a session saw come and end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "domain/values/plan.h"

namespace berth::live {

enum class PlanPhase : std::uint8_t;
enum class ActionPhase : std::uint8_t;

inline constexpr std::size_t kPlanPhases = 6;
inline constexpr std::size_t kActionPhases = 5;

struct PlanCounts {
  /// By PlanPhase: the plans that have reached it.
  std::array<std::int64_t, kPlanPhases> plans{};
  /// By alternative of SliceChange and ActionPhase: the actions that have reached it, after they were planned.
  std::array<std::array<std::int64_t, kActionPhases>, std::variant_size_v<SliceChange>> actions{};
  friend bool operator==(const PlanCounts&, const PlanCounts&) = default;
};

}  // namespace berth::live
