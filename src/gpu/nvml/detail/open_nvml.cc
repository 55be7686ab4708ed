#include "gpu/nvml/detail/open_nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include "gpu/nvml/detail/answers.h"
#include "gpu/nvml/detail/functions.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using Reason = NoGpuLibrary::Reason;

namespace {

/// The name that the loader searches for, and the usual paths of drivers outside its search path: Debian, Red Hat,
/// Windows.
std::vector<std::string> usual_names() {
  const std::string file = "libnvidia-ml.so.1";
  return {file, "/usr/lib/x86_64-linux-gnu/" + file, "/usr/lib64/" + file, "/usr/lib/wsl/lib/" + file};
}

/// The loader searches a name without a folder only in its own folders; a user's name is taken as a file relative to
/// the working directory first, and only then as a name for the loader.
std::vector<std::string> names_of(const std::string& path) {
  if (path.find('/') != std::string::npos) return {path};
  return {"./" + path, path};
}

/// The loader's last error, without the name that it often begins with. The second call frees the text of the first, as
/// this thread may never be joined.
std::string loader_error(const std::string& name) {
  const char* const text = ::dlerror();
  std::string error = text == nullptr ? "unknown error" : text;
  const std::string prefix = name + ": ";
  if (error.starts_with(prefix)) error.erase(0, prefix.size());
  ::dlerror();
  return error;
}

/// The first library that can be loaded, or null.
LoadedLibrary load(const std::vector<std::string>& names, std::vector<NoGpuLibrary::Attempt>& attempts) {
  for (const std::string& name : names) {
    LoadedLibrary library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library != nullptr) return library;
    attempts.push_back({name, loader_error(name)});
  }
  return nullptr;
}

/// Where the loader found a library; empty if unknown.
std::string path_of(void* library) {
  ::link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) return {};
  return map->l_name;
}

tl::unexpected<NoGpuLibrary> not_found(std::vector<NoGpuLibrary::Attempt> attempts) {
  NoGpuLibrary none{.reason = Reason::kNotFound, .attempts = std::move(attempts)};
  std::vector<std::string> lines;
  lines.reserve(none.attempts.size());
  for (const auto& attempt : none.attempts) lines.push_back(fmt::format("{}: {}", attempt.name, attempt.error));
  none.message = fmt::format("wanted NVIDIA's management library, found none: {}", fmt::join(lines, "; "));
  return tl::unexpected(std::move(none));
}

tl::unexpected<NoGpuLibrary> refused(std::string path, GpuCallFailure refusal) {
  NoGpuLibrary none{.reason = Reason::kRefused, .refusal = std::move(refusal)};
  none.library.path = std::move(path);
  none.message = fmt::format("{}: {} answered {}: {}", none.library.path, none.refusal->call, none.refusal->code_name,
                             nvml_abi::message_of(Code{none.refusal->code}));
  return tl::unexpected(std::move(none));
}

tl::unexpected<NoGpuLibrary> no_gpus(GpuLibraryFacts library) {
  NoGpuLibrary none{.reason = Reason::kNoGpus, .library = std::move(library)};
  none.message = fmt::format("{}: found no GPU (driver {})", none.library.path, none.library.driver_version);
  return tl::unexpected(std::move(none));
}

}  // namespace

tl::unexpected<NoGpuLibrary> function_missing(std::string path, std::vector<std::string> names) {
  NoGpuLibrary none{.reason = Reason::kFunctionMissing, .functions_missing = std::move(names)};
  none.library.path = std::move(path);
  none.message = fmt::format("{}: wanted NVIDIA's management library, found a library without {}", none.library.path,
                             fmt::join(none.functions_missing, ", "));
  return tl::unexpected(std::move(none));
}

tl::expected<std::unique_ptr<NvmlGpuLibrary>, NoGpuLibrary> open_nvml(const std::optional<std::string>& path) {
  std::vector<NoGpuLibrary::Attempt> attempts;
  LoadedLibrary loaded = load(path ? names_of(*path) : usual_names(), attempts);
  if (loaded == nullptr) return not_found(std::move(attempts));
  std::string found_path = path_of(loaded.get());

  auto functions = find_functions(loaded.get());
  if (!functions) return function_missing(std::move(found_path), std::move(functions.error()));

  const Code code = functions->nvmlInit_v2();
  if (code != Code::kSuccess) return refused(std::move(found_path), failed("nvmlInit_v2", code).value());
  auto library = std::make_unique<NvmlGpuLibrary>(std::move(loaded), *functions, std::move(found_path));
  const GpuAnswer<std::uint32_t> count = library->count();
  if (!count) return refused(library->facts().path, count.error());
  if (*count == 0) return no_gpus(library->facts());
  return library;
}

}  // namespace berth::edges::detail
