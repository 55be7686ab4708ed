/// What stands on a GPU, as slices.
#pragma once

#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::device {

struct Standing {
  std::vector<Slice> slices;  ///< by slice
  /// Those of them without a compute instance that covers them: nothing of ours can run there.
  std::vector<Slice> remains = {};
  /// Instances for which the model has no profile at that place: something is there, and nobody can say how much.
  std::vector<std::string> unknown;
  friend bool operator==(const Standing&, const Standing&) = default;
};

/// With MIG on, each GPU instance is a slice. A whole GPU with a process on
/// it is the slice `full`.
[[nodiscard]] Standing standing_on(GpuId gpu, const GpuModel& model, const GpuReading& reading);

/// The MIG device that is all of this slice: the one compute instance of its GPU instance. Null: the slice does not
/// stand there, has no such instance, or is a whole GPU. It is a part of the reading.
[[nodiscard]] const ComputeInstanceSeen* whole_device_of(const Slice& slice, const GpuModel& model,
                                                         const GpuReading& reading);

}  // namespace berth::device
