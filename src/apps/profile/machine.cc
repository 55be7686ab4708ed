#include "apps/profile/machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace berth::profiler {
namespace {

/// Instructions that matrix products use, as /proc/cpuinfo names them (x86-64 and aarch64).
constexpr std::array<std::string_view, 17> kFlags = {
    "amx_bf16", "amx_int8", "amx_tile", "asimd", "asimddp", "avx",  "avx2",   "avx512_bf16", "avx512_vnni",
    "avx512f",  "avx_vnni", "bf16",     "f16c",  "fma",     "i8mm", "sse4_2", "sve"};

/// The value of the first line of /proc/cpuinfo with this key: "model name : ...".
std::string cpu_line(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string cpu_flags() {
  std::istringstream all(cpu_line("flags") + " " + cpu_line("Features"));
  std::set<std::string> found;
  std::string word;
  while (all >> word) {
    if (std::ranges::find(kFlags, word) != kFlags.end()) found.insert(word);
  }
  std::string flags;
  for (const std::string& flag : found) flags += (flags.empty() ? "" : " ") + flag;
  return flags;
}

std::int64_t machine_bytes() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

/// As the kernel module says it, such as "570.86.15".
std::string gpu_driver() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

}  // namespace

ProfilingMachine machine_of(const edges::LoadedWorker& worker) {
  const bool is_gpu = !worker.device.empty();
  return {.device = is_gpu ? worker.device : "cpu",
          .processor = cpu_line("model name"),
          .flags = cpu_flags(),
          .memory_bytes = is_gpu ? worker.device_bytes : machine_bytes(),
          .driver = is_gpu ? gpu_driver() : "",
          .engine = worker.engine};
}

ProfilingMachine machine_of_server(const std::string& device, const std::string& engine) {
  return {.device = device, .engine = engine};
}

}  // namespace berth::profiler
