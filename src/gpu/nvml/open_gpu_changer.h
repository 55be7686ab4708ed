/// Opens the GPUs of this machine for changes: for the privileged process only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "domain/ports/gpu_changer.h"
#include "gpu/nvml/open_gpu_library.h"

namespace berth::edges {

/// A library, and a changer of the same GPUs.
struct ChangeableGpus {
  std::unique_ptr<GpuLibrary> library;
  std::unique_ptr<GpuChanger> changer;  ///< destroyed before the library
};

/// As `open_gpu_library`, but the library must also have the functions that change a GPU. Each call reports whether
/// this process may use them.
[[nodiscard]] tl::expected<ChangeableGpus, NoGpuLibrary> open_gpu_changer(const std::optional<std::string>& path);

}  // namespace berth::edges
