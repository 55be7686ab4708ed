/// What a device outside is to do.
#pragma once

#include <cstdint>

#include "world/slices/slice_table.h"

namespace berth::live {

/// The action, with the number under which the journal has it.
struct DeviceIntent {
  std::uint64_t number = 0;
  DeviceAction action;
  friend bool operator==(const DeviceIntent&, const DeviceIntent&) = default;
};

}  // namespace berth::live
