#include "edges/onnx_runtime/onnx_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges {
namespace {

/// The version that scripts/setup gets (scripts/detail/onnx_runtime).
constexpr const char* kPinnedVersion = "1.32.0";
constexpr const char* kPinnedCudaVersion = "1.31.1";
constexpr const char* kHowToGetIt = "scripts/setup gets the library; --engine names another one";

tl::unexpected<Error> no_library(const std::string& path, const std::string& found) {
  return invalid(
      fmt::format("{}: wanted ONNX Runtime 1.{} or newer, found {}; {}", path, ORT_API_VERSION, found, kHowToGetIt));
}

std::string library_below_cache(const std::string& name, const std::string& version) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string folder =
      cache != nullptr && *cache != '\0' ? cache : fmt::format("{}/.cache", home != nullptr ? home : "");
  return fmt::format("{}/berth/{}-{}/lib/libonnxruntime.so.{}", folder, name, version, version);
}

}  // namespace

std::string onnx_library_path() { return library_below_cache("onnxruntime", kPinnedVersion); }
std::string onnx_cuda_library_path() { return library_below_cache("onnxruntime-gpu", kPinnedCudaVersion); }

Result<void> find_cuda_provider(const std::string& library_path, int device_index) {
  const std::filesystem::path provider =
      std::filesystem::path(library_path).parent_path() / "libonnxruntime_providers_cuda.so";
  std::error_code ignored;
  if (std::filesystem::exists(provider, ignored)) return {};
  return invalid(
      fmt::format("--device cuda:{}: wanted {}, found none; scripts/setup cuda gets it, with the library for it",
                  device_index, provider.string()));
}

Result<OnnxLibrary> OnnxLibrary::open(const std::string& path) {
  // Otherwise it reports what it runs to its maker, and keeps files for that in the home and the temporary folder.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return no_library(path, reason != nullptr ? reason : "no library");
  }
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase"));
  if (get_base == nullptr) return no_library(path, "another library");
  const OrtApiBase* base = get_base();
  std::string version = base->GetVersionString();
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr) return no_library(path, "version " + version);
  Ort::InitApi(api);
  return OnnxLibrary(api, std::move(version));
}

}  // namespace berth::edges
