/// The measured times of creating and destroying slices on the devices.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/core/instant.h"

namespace berth {

enum class ActionKind : std::uint8_t { kCreation, kDestruction };

/// Changes that take about the same time: of slices of one profile, on GPUs of one model. Stored by name, because
/// models of one name may list their profiles in another order.
struct ChangeKind {
  std::string model;
  std::string profile;
  ActionKind action = ActionKind::kCreation;
  friend auto operator<=>(const ChangeKind&, const ChangeKind&) = default;
};

struct MeasuredTime {
  Micros median;           ///< of the last few, in time of the world
  std::int64_t count = 0;  ///< of all that were measured
  friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;
};

using MeasuredTimes = std::map<ChangeKind, MeasuredTime>;

}  // namespace berth
