#include "gpu/nvml/open_gpu_changer.h"

#include "gpu/nvml/detail/changing_functions.h"
#include "gpu/nvml/detail/nvml_gpu_changer.h"
#include "gpu/nvml/detail/open_nvml.h"

namespace berth::edges {

tl::expected<ChangeableGpus, NoGpuLibrary> open_gpu_changer(const std::optional<std::string>& path) {
  auto library = detail::open_nvml(path);
  if (!library) return tl::unexpected(std::move(library.error()));
  auto functions = detail::find_changing_functions((*library)->loaded());
  if (!functions) return detail::function_missing((*library)->facts().path, std::move(functions.error()));
  auto changer = std::make_unique<detail::NvmlGpuChanger>(**library, *functions);
  return ChangeableGpus{.library = std::move(*library), .changer = std::move(changer)};
}

}  // namespace berth::edges
