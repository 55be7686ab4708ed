#include "apps/optimize/unnamed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace berth::optimizer {
namespace {

constexpr mode_t kOwnerMode = 0600;

/// Where the file system has no unnamed files, one whose name is removed at once.
int open_unnamed(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerMode);
  if (descriptor >= 0) return descriptor;
  std::string name = folder + "/berth-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

bool write_all_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<UnnamedFile> UnnamedFile::write(std::string_view bytes) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  UnnamedFile file(error ? -1 : open_unnamed(folder));
  if (file.descriptor_ >= 0 && write_all_bytes(file.descriptor_, bytes)) return file;
  return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot write a temporary file: {}", folder,
                                                   std::generic_category().message(error ? error.value() : errno)));
}

UnnamedFile::UnnamedFile(UnnamedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

UnnamedFile::~UnnamedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string UnnamedFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_); }

}  // namespace berth::optimizer
