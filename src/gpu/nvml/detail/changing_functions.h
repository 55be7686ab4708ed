/// The functions of a loaded NVML library that change GPUs. Only `open_gpu_changer` looks them up.
#pragma once

#include <string>
#include <vector>

#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

struct ChangingFunctions {
#define BERTH_NVML_NEEDED(name) nvml_abi::signatures::name name = nullptr;
#include "gpu/nvml/detail/changing_functions.inc"
};

/// Looks the functions up in a library of `dlopen`. Error: the names of all missing ones.
[[nodiscard]] tl::expected<ChangingFunctions, std::vector<std::string>> find_changing_functions(void* library);

}  // namespace berth::edges::detail
