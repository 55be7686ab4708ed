/// A simulated device (`--device simulated:FILE` of `berth serve`) with the figures of a service's profile.
#pragma once

#include <optional>
#include <string>

#include "domain/values/gpu.h"
#include "domain/values/service.h"
#include "world/slices/program_slice.h"

namespace berth::live {

/// The text of the file: as many lanes as the operating point has processes, its times of batches, the memory of the
/// slice, and the service's start time as the time of a load. Nothing: the service has no point there.
[[nodiscard]] std::optional<std::string> device_file(const ServiceSpec& service, const GpuModel& model,
                                                     const world::ProgramSlice& on);

}  // namespace berth::live
