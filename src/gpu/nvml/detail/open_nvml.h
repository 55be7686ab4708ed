/// Finds, loads and initialises an NVML library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml/detail/nvml_gpu_library.h"
#include "gpu/nvml/open_gpu_library.h"

namespace berth::edges::detail {

/// As `open_gpu_library`.
[[nodiscard]] tl::expected<std::unique_ptr<NvmlGpuLibrary>, NoGpuLibrary> open_nvml(
    const std::optional<std::string>& path);

/// The error that the library at this path lacks these functions.
[[nodiscard]] tl::unexpected<NoGpuLibrary> function_missing(std::string path, std::vector<std::string> names);

}  // namespace berth::edges::detail
