/// The GPUs of this machine, to be changed: for the privileged process alone.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "domain/ports/gpu_changer.h"
#include "gpu/nvml/open_gpu_library.h"

namespace berth::edges {

/// A library that can be asked and changes GPUs, too. Both know the same GPUs.
struct ChangeableGpus {
  std::unique_ptr<GpuLibrary> library;
  std::unique_ptr<GpuChanger> changer;  ///< goes before the library does
};

/// As `open_gpu_library`; a library also needs the functions that change a GPU. Whether this process may use them, the
/// library says at each call.
[[nodiscard]] tl::expected<ChangeableGpus, NoGpuLibrary> open_gpu_changer(const std::optional<std::string>& path);

}  // namespace berth::edges
