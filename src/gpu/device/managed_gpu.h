/// GPUs of this machine that may be changed.
#pragma once

#include <string>

namespace berth::device {

/// An item of `manage` in a configuration file.
struct ManagedGpu {
  std::string uuid;
  bool has_mig_mode = false;  ///< its MIG mode may be turned on
  friend bool operator==(const ManagedGpu&, const ManagedGpu&) = default;
};

}  // namespace berth::device
