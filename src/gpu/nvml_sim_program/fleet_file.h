/// The fleet file: the initial simulated machine of `berth-nvml-sim run`. docs/reference/nvml_sim.md describes its
/// keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim_cli {

struct Fleet {
  std::unique_ptr<nvml_sim::MachineRecord> machine;  ///< before its first boot: it has no boot id
  std::string state;                                 ///< path of the state file; empty: none is named
  std::string state_place = {};                      ///< where the file names it: "FILE:LINE:COLUMN: state"
};

/// Reads the text of a fleet file; `path` is the file's; a relative `state` is relative to its folder. Errors give
/// FILE:LINE:COLUMN, the key's path, what was wanted and what was found.
[[nodiscard]] Result<Fleet> parse_fleet(std::string_view text, const std::string& path);

/// "2 A100-80GB, 1 T4-16GB, driver 580.95.05": machines with equal descriptions have the same fleet.
[[nodiscard]] std::string describe_fleet(const nvml_sim::MachineRecord& machine);

}  // namespace berth::nvml_sim_cli
