/// Whether the instances on a simulated GPU can be there together, found without the code that puts them there.
#pragma once

#include <string>

#include "gpu/nvml_sim/state.h"

namespace berth::edges::testing {

/// The first thing that is wrong with the instances or the processes of a GPU; empty: nothing.
[[nodiscard]] std::string fault_of(const nvml_sim::GpuRecord& gpu);

}  // namespace berth::edges::testing
