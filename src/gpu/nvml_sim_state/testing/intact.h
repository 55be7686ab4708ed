/// Whether the instances on a simulated GPU can coexist, checked without the code that creates them.
#pragma once

#include <string>

#include "gpu/nvml_sim/state.h"

namespace berth::edges::testing {

/// The first fault in the instances or the processes of a GPU; empty: none.
[[nodiscard]] std::string fault_of(const nvml_sim::GpuRecord& gpu);

}  // namespace berth::edges::testing
