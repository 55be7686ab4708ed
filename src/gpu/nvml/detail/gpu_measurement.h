/// What a GPU measures about itself.
#pragma once

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

/// Nine calls of a few microseconds each. A figure that the driver does not give, or not at once, is absent: the calls
/// of a reading report what is wrong with a GPU. Error: the GPU is lost.
[[nodiscard]] GpuAnswer<GpuMeasurement> measure_gpu(const Functions& functions, nvml_abi::Device device);

}  // namespace berth::edges::detail
