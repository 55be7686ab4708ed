/// A creation or destruction of a slice, as whoever carries it out gets it, and its outcome.
#pragma once

#include <cstdint>
#include <string>

#include "domain/values/change_times.h"
#include "domain/values/slice.h"

namespace berth {

struct DeviceAction {
  ActionKind kind = ActionKind::kCreation;
  Slice slice;
  std::uint64_t generation = 0;  ///< Action::number of the slice's creation
  bool was_ordered = false;      ///< it was given out before, by a process that is gone
  friend bool operator==(const DeviceAction&, const DeviceAction&) = default;
};

enum class ActionOutcome : std::uint8_t { kDone, kFailed, kDoneButReportedFailed };

struct ActionResult {
  ActionOutcome outcome = ActionOutcome::kDone;
  std::string why = {};  ///< of a failure, real or reported
};

}  // namespace berth
