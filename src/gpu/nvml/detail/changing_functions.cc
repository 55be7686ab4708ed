#include "gpu/nvml/detail/changing_functions.h"

#include <dlfcn.h>

namespace berth::edges::detail {

tl::expected<ChangingFunctions, std::vector<std::string>> find_changing_functions(void* library) {
  ChangingFunctions found;
  std::vector<std::string> missing;
#define BERTH_NVML_NEEDED(name)                                                       \
  found.name = reinterpret_cast<nvml_abi::signatures::name>(::dlsym(library, #name)); \
  if (found.name == nullptr) missing.emplace_back(#name);
#include "gpu/nvml/detail/changing_functions.inc"
  if (!missing.empty()) return tl::unexpected(std::move(missing));
  return found;
}

}  // namespace berth::edges::detail
