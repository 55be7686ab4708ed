/// The GPUs of this machine, through NVIDIA's management library (NVML). It is loaded when the program runs, and only
/// asked: functions that would change a device are not looked up.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_library.h"

namespace berth::edges {

/// Why there is nothing to ask. On most machines that is an ordinary answer, not a fault.
struct NoGpuLibrary {
  enum class Reason {
    kNotFound,         ///< no library could be loaded
    kFunctionMissing,  ///< what was loaded has not all functions that are needed: it is too old, or no NVML at all
    kRefused,          ///< the library cannot begin: no driver, no permission, another version of the driver ...
    kNoGpus,           ///< it works, and there is no GPU
  };
  struct Attempt {
    std::string name;   ///< a path, or a name that the loader looks for
    std::string error;  ///< the loader's words
  };

  Reason reason = Reason::kNotFound;
  std::vector<Attempt> attempts = {};               ///< kNotFound: all that were tried
  GpuLibraryFacts library = {};                     ///< otherwise: what was loaded; versions of kNoGpus alone
  std::vector<std::string> functions_missing = {};  ///< kFunctionMissing: which
  std::optional<GpuCallFailure> refusal = {};       ///< kRefused: by which call, and its code
  std::string message = {};  ///< all of that in one sentence: what was looked for, what was found
};

/// Loads and initialises the library. Without a path: the loader's libnvidia-ml.so.1, or else the first of the usual
/// places. What is found first counts, whether it works or not. Takes about 10 ms where there is a driver.
[[nodiscard]] tl::expected<std::unique_ptr<GpuLibrary>, NoGpuLibrary> open_gpu_library(
    const std::optional<std::string>& path);

}  // namespace berth::edges
