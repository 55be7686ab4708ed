/// Numbers of NVML that users see by name: instance profiles and recovery actions. The names are those of C without
/// their prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace berth::nvml_abi {

/// A number and the end of its C name. Each table below is ordered by number and has no gaps, from 0.
using NameTable = std::span<const std::string_view>;

/// NVML_GPU_INSTANCE_PROFILE_*: "1_SLICE", "1_SLICE_REV2", as in `MigProfile::nvml_enum`. Callers query a profile by
/// this number, and get the profile's id on that device, which is a different number.
[[nodiscard]] NameTable gpu_instance_profiles();

/// NVML_COMPUTE_INSTANCE_PROFILE_*: "1_SLICE", "7_SLICE_NVL".
[[nodiscard]] NameTable compute_instance_profiles();

/// NVML_GPU_RECOVERY_ACTION_*: "NONE", "GPU_RESET"; the values of field 230.
[[nodiscard]] NameTable recovery_actions();

/// The number of a name of this table.
[[nodiscard]] std::optional<std::uint32_t> find_number(NameTable table, std::string_view name);

/// The name of a number; empty if the table has none.
[[nodiscard]] std::string_view find_name(NameTable table, std::uint32_t number);

}  // namespace berth::nvml_abi
