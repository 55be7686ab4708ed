/// The current instances and processes of a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml/detail/functions.h"
#include "gpu/nvml/detail/gpu_facts.h"

namespace berth::edges::detail {

/// The profiles by which instances are listed. They do not change, so they are queried once, but not before MIG mode is
/// on, as some drivers do not report them while it is off.
struct KnownProfiles {
  std::vector<ProfileSize> sizes;                              ///< of GPU instances; empty: not known yet
  std::map<std::uint32_t, std::vector<ProfileSize>> computes;  ///< of compute instances, by that of their GPU instance
};

/// Reads everything once, in sequence. If an instance is created or destroyed meanwhile, the answer may be
/// `is_disturbed` or `has_overlap`: read again. Adds newly found profiles to `profiles`.
[[nodiscard]] GpuAnswer<GpuReading> read_gpu(const Functions& functions, nvml_abi::Device device,
                                             KnownProfiles& profiles);

/// The profile of the compute instance that has all slices of a GPU instance. Adds newly found profiles to `profiles`.
[[nodiscard]] GpuAnswer<std::uint32_t> find_whole_profile(const Functions& functions, nvml_abi::Device device,
                                                          nvml_abi::GpuInstance instance, KnownProfiles& profiles);

/// Whether an object that was just found has disappeared, so that its handle is invalid.
[[nodiscard]] bool is_disturbed(const GpuCallFailure& failure);

/// Whether the handle of the GPU itself is no longer valid, so that it must be looked up again.
[[nodiscard]] bool is_handle_invalid(const GpuCallFailure& failure);

/// Whether GPU instances cover the same units: some have been destroyed and replaced during the reading.
[[nodiscard]] bool has_overlap(const GpuReading& reading);

}  // namespace berth::edges::detail
