/// The GPUs of this machine as its driver's library lists them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"
#include "gpu/device/local_gpu.h"

namespace berth::edges {

/// The GPUs found on this machine.
struct LocalMachine {
  std::unique_ptr<GpuLibrary> library;  ///< null: there is none
  GpuLibraryFacts facts;                ///< of the library; empty without one
  std::vector<device::LocalGpu> gpus;   ///< in its order; those that can be read
  bool has_unread = false;              ///< the library also lists GPUs that cannot be read
  std::vector<std::string> warnings;    ///< about GPUs that cannot be read
  std::optional<std::string> reason;    ///< why there are none: wanted and found
};

}  // namespace berth::edges
