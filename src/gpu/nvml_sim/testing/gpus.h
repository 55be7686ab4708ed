/// Simulated GPUs for tests.
#pragma once

#include <string_view>

#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim::testing {

/// A caller who may change everything.
inline constexpr Caller kRoot{.may_change = true};

/// A GPU of a model, with MIG on if the model has it.
[[nodiscard]] GpuRecord gpu_of(std::string_view model, std::uint32_t index = 0);

/// The id that the model gives a profile. Requires: it has one of that name.
[[nodiscard]] std::uint32_t profile_id(const GpuRecord& gpu, std::string_view profile);

/// Creates an instance where the driver puts it; returns its first unit, or -1 if it does not fit.
[[nodiscard]] int create_anywhere(GpuRecord& gpu, std::string_view profile);

}  // namespace berth::nvml_sim::testing
