#include "gpu/nvml/detail/functions.h"

#include <dlfcn.h>

namespace berth::edges::detail {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function& found) {
  if (found == nullptr) found = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

tl::expected<Functions, std::vector<std::string>> find_functions(void* library) {
  Functions found;
#define BERTH_NVML_NEEDED(name) look_up(library, #name, found.name);
#define BERTH_NVML_NEEDED_OR(name, older) \
  look_up(library, #name, found.name);    \
  look_up(library, #older, found.name);
#define BERTH_NVML_OPTIONAL(name) look_up(library, #name, found.name);
#include "gpu/nvml/detail/functions.inc"

  std::vector<std::string> missing;
#define BERTH_NVML_NEEDED(name) \
  if (found.name == nullptr) missing.emplace_back(#name);
#define BERTH_NVML_NEEDED_OR(name, older) BERTH_NVML_NEEDED(name)
#define BERTH_NVML_OPTIONAL(name)
#include "gpu/nvml/detail/functions.inc"

  if (!missing.empty()) return tl::unexpected(std::move(missing));
  return found;
}

}  // namespace berth::edges::detail
