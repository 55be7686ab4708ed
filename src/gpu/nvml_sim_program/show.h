/// A simulated machine as text, for people and for programs. docs/reference/nvml_sim.md describes both.
#pragma once

#include <string>

#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim_cli {

/// A line for the machine and some for each GPU; `?` marks values that no primary source confirms.
[[nodiscard]] std::string show_text(const nvml_sim::MachineRecord& machine);

/// One JSON object in one line.
[[nodiscard]] std::string show_json(const nvml_sim::MachineRecord& machine);

}  // namespace berth::nvml_sim_cli
