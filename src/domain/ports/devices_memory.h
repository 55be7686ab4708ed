/// What simulated devices remember, as a store keeps it: texts, whose meaning is for others.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// What is written at once, or found.
struct DevicesMemory {
  std::vector<std::pair<std::uint32_t, std::string>> gpus = {};  ///< those that changed; when read, all, ascending
  std::string world = {};  ///< empty: unchanged; when read: nothing was ever written
  std::string clock = {};  ///< the same: a short text that is written often
  friend bool operator==(const DevicesMemory&, const DevicesMemory&) = default;
};

}  // namespace berth
