/// An order for an outside device.
#pragma once

#include <cstdint>

#include "world/slices/slice_table.h"

namespace berth::live {

/// The action, with its number in the journal.
struct DeviceIntent {
  std::uint64_t number = 0;
  DeviceAction action;
  friend bool operator==(const DeviceIntent&, const DeviceIntent&) = default;
};

}  // namespace berth::live
