/// The GPUs of this machine, through NVIDIA's management library (NVML). It is loaded at run time, and only read:
/// functions that would change a device are not looked up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_library.h"

namespace berth::edges {

/// Why no library is usable. On most machines that is an ordinary answer, not a fault.
struct NoGpuLibrary {
  enum class Reason {
    kNotFound,         ///< no library could be loaded
    kFunctionMissing,  ///< the loaded library lacks required functions: it is too old, or not NVML
    kRefused,          ///< the library cannot be initialised: no driver, no permission, another driver version ...
    kNoGpus,           ///< it works, but there is no GPU
  };
  struct Attempt {
    std::string name;   ///< a path, or a name that the loader looks for
    std::string error;  ///< the loader's message
  };

  Reason reason = Reason::kNotFound;
  std::vector<Attempt> attempts = {};               ///< kNotFound: all that were tried
  GpuLibraryFacts library = {};                     ///< otherwise: the loaded library; versions only for kNoGpus
  std::vector<std::string> functions_missing = {};  ///< kFunctionMissing: which
  std::optional<GpuCallFailure> refusal = {};       ///< kRefused: by which call, and its code
  std::string message = {};                         ///< all of that in one sentence: wanted and found
};

/// Loads and initialises the library. Without a path: the loader's libnvidia-ml.so.1, or else the first of the usual
/// places. The first library found is used, whether it works or not. Takes about 10 ms if there is a driver.
[[nodiscard]] tl::expected<std::unique_ptr<GpuLibrary>, NoGpuLibrary> open_gpu_library(
    const std::optional<std::string>& path);

}  // namespace berth::edges
