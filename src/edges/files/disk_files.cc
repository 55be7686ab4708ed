#include "edges/files/disk_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "edges/files/detail/descriptor.h"
#include "edges/files/detail/mapped_bytes.h"
#include "edges/files/gunzip.h"

namespace berth::edges {
namespace {

using detail::Descriptor;
using detail::system_error;

/// Opens a regular file. Anything else is refused before reading: a pipe or /dev/zero might never end.
Result<Descriptor> open_regular(const std::string& path, std::size_t bytes_max) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return system_error(path, "read", errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error(path, "read", errno);
  if (S_ISDIR(status.st_mode)) return invalid(fmt::format("{}: wanted a file, found a directory", path));
  if (!S_ISREG(status.st_mode)) return invalid(fmt::format("{}: wanted a regular file, found a device or pipe", path));
  if (std::cmp_greater(status.st_size, bytes_max)) {
    return invalid(fmt::format("{}: wanted at most {} bytes, found {}", path, bytes_max, status.st_size));
  }
  return file;
}

/// The bytes as on the disk.
Result<std::string> read_packed(const std::string& path, std::size_t bytes_max) {
  const auto file = open_regular(path, bytes_max);
  if (!file) return pass_on(file.error());
  std::string bytes;
  std::array<char, 65'536> piece{};
  while (true) {
    const ssize_t count = ::read(file->number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "read", errno);
    if (count == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(count));
    // A file may grow while it is read, and files of /proc report no size.
    if (bytes.size() > bytes_max)
      return invalid(fmt::format("{}: wanted at most {} bytes, found more", path, bytes_max));
  }
}

}  // namespace

Result<std::unique_ptr<FileBytes>> DiskFiles::open(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  const auto file = open_regular(path, std::numeric_limits<std::size_t>::max());
  if (!file) return pass_on(file.error());
  struct stat status{};
  if (::fstat(file->number(), &status) != 0) return system_error(path, "read", errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Files::open(path);  // also files of /proc, which report no size
  auto mapped = detail::map_bytes(*file, size, path);
  if (mapped && is_gzip((*mapped)->bytes())) return Files::open(path);
  return mapped;
}

Result<std::string> DiskFiles::read(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  auto bytes = read_packed(path, bytes_max_);
  if (!bytes || !is_gzip(*bytes)) return bytes;
  auto text = gunzip(*bytes, bytes_max_);
  if (!text) return fail(text.error().code, fmt::format("{}: {}", path, text.error().message));
  return text;
}

Result<std::optional<std::vector<std::string>>> DiskFiles::list(const std::string& path) const {
  namespace fs = std::filesystem;
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (error) return system_error(path, "read", error.value());
  if (!is_folder) return std::nullopt;
  std::vector<std::string> names;
  for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (names.size() == kEntryCountMax) {
      return invalid(fmt::format("{}: wanted a folder of at most {} entries, found more", path, kEntryCountMax));
    }
    names.push_back(at->path().filename().string());
  }
  if (error) return system_error(path, "read", error.value());
  std::ranges::sort(names);
  return names;
}

}  // namespace berth::edges
