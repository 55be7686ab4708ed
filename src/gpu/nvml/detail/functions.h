/// The functions of a loaded NVML library. Those that would change a device are not even looked up.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "gpu/nvml_abi/abi.h"

namespace berth::nvml_abi::signatures {

/// The type of each function, by the function's name.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a type's name and its parameters
#define BERTH_NVML_FUNCTION(name, parameters) using name = Code(*) parameters;
#include "gpu/nvml_abi/simulated.inc"

}  // namespace berth::nvml_abi::signatures

namespace berth::edges::detail {

/// Null: an optional one that the library does not have.
struct Functions {
#define BERTH_NVML_NEEDED(name) nvml_abi::signatures::name name = nullptr;
#define BERTH_NVML_NEEDED_OR(name, older) nvml_abi::signatures::name name = nullptr;
#define BERTH_NVML_OPTIONAL(name) nvml_abi::signatures::name name = nullptr;
#include "gpu/nvml/detail/functions.inc"
};

/// Looks the functions up in a library of `dlopen`. Error: the names of all required ones that are missing.
[[nodiscard]] tl::expected<Functions, std::vector<std::string>> find_functions(void* library);

}  // namespace berth::edges::detail
