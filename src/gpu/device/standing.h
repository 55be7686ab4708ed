/// The instances of a GPU, as slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::device {

struct Standing {
  std::vector<Slice> slices;  ///< by slice
  /// Those of them without a compute instance that covers them (orphans): our services cannot run there.
  std::vector<Slice> remains = {};
  /// Instances for which the model has no profile at that place: they exist, but their size is unknown.
  std::vector<std::string> unknown;
  friend bool operator==(const Standing&, const Standing&) = default;
};

/// With MIG on, each GPU instance is a slice. A whole GPU with a process on
/// it is the slice `full`.
[[nodiscard]] Standing standing_on(GpuId gpu, const GpuModel& model, const GpuReading& reading);

/// The slice that is the GPU instance with this id; nothing: there is none, or no profile describes it.
[[nodiscard]] std::optional<Slice> slice_of_instance(GpuId gpu, const GpuModel& model, const GpuReading& reading,
                                                     std::uint32_t id);

/// The MIG device that covers this whole slice: the only compute instance of its GPU instance. Null: the slice does not
/// exist, has no such instance, or is a whole GPU. Points into the reading.
[[nodiscard]] const ComputeInstanceSeen* whole_device_of(const Slice& slice, const GpuModel& model,
                                                         const GpuReading& reading);

}  // namespace berth::device
