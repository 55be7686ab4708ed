/// The boot id of the machine: GPU instances do not survive a reboot.
#pragma once

#include <string>

#include "base/core/result.h"

namespace berth::edges {

/// The kernel's id of this boot, or the first line of the file that $BERTH_BOOT_ID names. Empty: it cannot be read.
[[nodiscard]] std::string boot_id_now();

/// The boot in which a folder's world last had its devices, as recorded in a file of the folder.
class BootRecord {
 public:
  explicit BootRecord(std::string folder);
  /// Whether the machine was not rebooted since then; true if nothing is recorded.
  [[nodiscard]] bool is_current() const { return recorded_.empty() || recorded_ == boot_id_now(); }
  /// Records the current boot, and returns its id. Error: it cannot be written.
  [[nodiscard]] Result<std::string> follow();

 private:
  std::string folder_;
  std::string recorded_;  ///< empty: none is recorded
};

}  // namespace berth::edges
