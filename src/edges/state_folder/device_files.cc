#include "edges/state_folder/device_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace berth::edges {

std::optional<std::string> write_device_file(const std::string& folder, const std::string& name,
                                             const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = fmt::format("{}/{}.yaml", folder, name);
  const std::string part = path + ".part";
  std::FILE* file = std::fopen(part.c_str(), "we");
  const auto failed = [&] { return fmt::format("{}: cannot be written: {}", path, std::strerror(errno)); };
  if (file == nullptr) return failed();
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_written) return failed();
  constexpr mode_t kReadable = 0644;
  if (::chmod(part.c_str(), kReadable) != 0 || std::rename(part.c_str(), path.c_str()) != 0) return failed();
  return std::nullopt;
}

}  // namespace berth::edges
