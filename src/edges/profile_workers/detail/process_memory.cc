#include "edges/profile_workers/detail/process_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "gpu/nvml/open_gpu_library.h"

namespace berth::edges::detail {
namespace {

/// A number of a file of /proc, in bytes: "Rss:    123 kB".
std::optional<std::int64_t> bytes_in_file(const char* path, std::string_view key) {
  constexpr std::int64_t kKibBytes = 1024;
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == key && file >> kib) return kib * kKibBytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> resident_bytes_now() {
  ::malloc_trim(0);
  return bytes_in_file("/proc/self/smaps_rollup", "Rss:");
}

void reset_resident_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
}

std::optional<std::int64_t> resident_bytes_peak() { return bytes_in_file("/proc/self/status", "VmHWM:"); }

std::optional<std::int64_t> gpu_bytes_now() {
  constexpr std::int64_t kMibBytes = 1024 * 1024;
  const auto library = open_gpu_library(std::nullopt);
  if (!library) return std::nullopt;
  const auto listed = (*library)->list();
  if (!listed) return std::nullopt;
  std::int64_t bytes = 0;
  for (const GpuLibrary::Listed& gpu : *listed) {
    const auto reading = (*library)->read(gpu.uuid);
    if (!reading) continue;
    for (const GpuProcessSeen& process : reading->processes) {
      if (process.pid == static_cast<std::uint32_t>(::getpid())) bytes += process.memory_mib * kMibBytes;
    }
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace berth::edges::detail
