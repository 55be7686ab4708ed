/// The state of simulated devices, as a store keeps it: texts that the store does not interpret.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// A write, or the stored state as read.
struct DevicesMemory {
  std::vector<std::pair<std::uint32_t, std::string>> gpus = {};  ///< write: those that changed; read: all, ascending
  std::string world = {};  ///< empty in a write: unchanged; in a read: never written
  std::string clock = {};  ///< likewise; a short text that is written often
  friend bool operator==(const DevicesMemory&, const DevicesMemory&) = default;
};

}  // namespace berth
