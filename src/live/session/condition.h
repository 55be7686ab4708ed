/// Conditions of a service: what holds of it, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/instant.h"

namespace berth::live {

enum class ConditionStatus : std::uint8_t { kTrue, kFalse, kUnknown };
/// "True", "False", "Unknown".
[[nodiscard]] std::string_view word(ConditionStatus status);

/// The first three follow from plans and slices (service_watch.h), kInTime from the requests of the last minute
/// (in_time.h).
enum class ConditionType : std::uint8_t { kPlaced, kServing, kFloorMet, kInTime };
inline constexpr std::size_t kWatchedConditions = 3;
inline constexpr std::size_t kConditionTypes = 4;
[[nodiscard]] std::string_view word(ConditionType type);

struct Condition {
  ConditionType type = ConditionType::kPlaced;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason = {};  ///< one word for programs: "NoSlice"
  std::string message = {};
  Instant since = {};  ///< when it was first seen with this status
  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace berth::live
