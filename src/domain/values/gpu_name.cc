#include "domain/values/gpu_name.h"

#include <fmt/format.h>

namespace berth {

std::string gpu_name(GpuId gpu) { return fmt::format("gpu-{}", gpu.index); }

}  // namespace berth
