#include "edges/own_process/own_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace berth::edges {
namespace {

// Numbers of fields in /proc/self/stat, from 1.
constexpr std::size_t kUserTicks = 14;
constexpr std::size_t kSystemTicks = 15;
constexpr std::size_t kStartTicks = 22;
constexpr std::size_t kVirtualBytes = 23;
constexpr std::size_t kResidentPages = 24;
/// The first field behind the name, which stands in parentheses and may have spaces.
constexpr std::size_t kFirstBehindName = 3;

std::string read_text(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The fields behind the name as numbers; those that are none are 0.
std::vector<double> fields_of(const std::string& stat) {
  std::vector<double> fields;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return fields;
  std::istringstream words(stat.substr(name_end + 1));
  for (std::string word; words >> word;) {
    std::istringstream number(word);
    double value = 0;
    number >> value;
    fields.push_back(value);
  }
  return fields;
}

/// When the machine was started, in seconds since 1970; 0: unknown.
double boot_seconds() {
  std::istringstream lines(read_text("/proc/stat"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

double count_open_files() {
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  double count = 0;
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) ++count;
  return count;
}

std::optional<double> files_max() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<OwnProcess> read_own_process() {
  const std::vector<double> fields = fields_of(read_text("/proc/self/stat"));
  if (fields.size() <= kResidentPages - kFirstBehindName) return std::nullopt;
  const auto field = [&](std::size_t number) { return fields[number - kFirstBehindName]; };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return OwnProcess{.cpu_seconds = (field(kUserTicks) + field(kSystemTicks)) / ticks,
                    .resident_bytes = field(kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE)),
                    .virtual_bytes = field(kVirtualBytes),
                    .start_seconds = boot_seconds() + field(kStartTicks) / ticks,
                    .open_files = count_open_files(),
                    .max_files = files_max()};
}

}  // namespace berth::edges
