/// What monitoring systems collect of a GPU.
#pragma once

#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/activity_meter.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// Ten calls for the GPU (twelve without GPM, two of which take some 20 ms each), and four for each of its instances
/// (at the first call more). A figure that the driver does not give, or not at once, is absent. `instances`: those of
/// the last reading; one that is gone has no figures. Error: the GPU is lost.
[[nodiscard]] GpuAnswer<GpuFigures> read_figures(const Functions& functions, nvml_abi::Device device,
                                                 const std::vector<GpuInstanceSeen>& instances, ActivityMeter& meter);

}  // namespace berth::edges::detail
