/// Which boot of the machine this is: instances of GPUs do not survive one.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

/// The kernel's id of this boot, or the content of the file that $BERTH_BOOT_ID names. Empty: it cannot be read.
[[nodiscard]] std::string boot_id_now();

/// The boot in which the folder's world ran last; empty: none is recorded.
[[nodiscard]] std::string recorded_boot_id(const std::string& folder);
/// From now on it is this one. Error: it cannot be written.
[[nodiscard]] Result<void> record_boot_id(const std::string& folder, const std::string& boot_id);

}  // namespace berth::cli
