#include "gpu/nvml/open_gpu_library.h"

#include "gpu/nvml/detail/open_nvml.h"

namespace berth::edges {

tl::expected<std::unique_ptr<GpuLibrary>, NoGpuLibrary> open_gpu_library(const std::optional<std::string>& path) {
  return detail::open_nvml(path);
}

}  // namespace berth::edges
