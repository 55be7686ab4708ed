/// The shared library of ONNX Runtime.
#pragma once

#include <memory>
#include <string>

#include "base/core/result.h"

struct OrtApi;

namespace berth::edges {

/// An open library. It stays open until the process ends: its threads and its memory cannot be taken back.
class OnnxLibrary {
 public:
  /// Errors: kInvalidInput if there is no such file, it is no ONNX Runtime, or it is older than the headers. The
  /// message says how to get the library. From then on the classes of its headers work; one library per process: a
  /// later call with another path gives the first one. To be called before other threads start: it sets an environment
  /// variable, so that the library reports nothing to its maker and keeps no files for that.
  [[nodiscard]] static Result<OnnxLibrary> open(const std::string& path);

  [[nodiscard]] const OrtApi& api() const { return *api_; }
  /// Such as "1.32.0".
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  OnnxLibrary(const OrtApi* api, std::string version) : api_(api), version_(std::move(version)) {}

  const OrtApi* api_;
  std::string version_;
};

/// Where scripts/setup puts the library: below XDG_CACHE_HOME, or HOME/.cache.
[[nodiscard]] std::string onnx_library_path();
/// Where `scripts/setup cuda` puts the library that has the provider for CUDA.
[[nodiscard]] std::string onnx_cuda_library_path();
/// Whether there is a provider for CUDA, which is a file next to the library. Errors, kInvalidInput: there is none,
/// with the command that gets it.
[[nodiscard]] Result<void> find_cuda_provider(const std::string& library_path, int device_index);

}  // namespace berth::edges
