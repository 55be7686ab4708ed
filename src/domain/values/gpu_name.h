/// The name under which users see a GPU of a fleet.
#pragma once

#include <string>

#include "domain/values/slice.h"

namespace berth {

/// "gpu-3": its name in commands, objects, messages and reasons.
[[nodiscard]] std::string gpu_name(GpuId gpu);

}  // namespace berth
