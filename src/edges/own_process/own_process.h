/// What this process uses, as Linux says (proc(5)).
#pragma once

#include <optional>

namespace berth::edges {

struct OwnProcess {
  double cpu_seconds = 0;  ///< in user and system mode
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double start_seconds = 0;                        ///< since 1970
  double open_files = 0;                           ///< descriptors
  std::optional<double> max_files = std::nullopt;  ///< that may be open; absent without a limit
};

/// Nothing: /proc cannot be read.
[[nodiscard]] std::optional<OwnProcess> read_own_process();

}  // namespace berth::edges
