/// Which boot of the machine this is: instances of GPUs do not survive one.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::edges {

/// The kernel's id of this boot, or the content of the file that $BERTH_BOOT_ID names. Empty: it cannot be read.
[[nodiscard]] std::string boot_id_now();

/// The boot in which a folder's world last had its devices, as a file of the folder says.
class BootRecord {
 public:
  explicit BootRecord(std::string folder);
  /// Whether the machine was not booted since then, as far as that is recorded.
  [[nodiscard]] bool is_current() const { return recorded_.empty() || recorded_ == boot_id_now(); }
  /// From now on it is this boot, whose id is returned. Error: it cannot be written.
  [[nodiscard]] Result<std::string> follow();

 private:
  std::string folder_;
  std::string recorded_;  ///< empty: none is
};

}  // namespace berth::edges
