#include "gpu/program_runner/disk_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace berth::edges {
namespace {

constexpr mode_t kRecordMode = 0600;
constexpr std::size_t kRecordFileMax = std::size_t{1} << 20U;

tl::unexpected<Error> disk_trouble(const std::string& path, std::string_view what) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return fail(code, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_from(int file, std::size_t bytes_max) {
  std::string text(bytes_max, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<void> write_record(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  {
    const Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kRecordMode));
    if (!file.is_open()) return disk_trouble(fresh, "cannot be written");
    if (!write_all(file.number(), text) || ::fsync(file.number()) != 0) return disk_trouble(fresh, "cannot be written");
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return disk_trouble(path, "cannot be renamed");
  const std::string folder = path.substr(0, path.rfind('/'));
  const Descriptor place(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.is_open() || ::fsync(place.number()) != 0) return disk_trouble(folder, "cannot be written");
  return {};
}

Result<std::string> read_record_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return disk_trouble(path, "cannot be read");
  std::string text = read_from(file.number(), kRecordFileMax + 1);
  if (text.size() <= kRecordFileMax) return text;
  return fail(ErrorCode::kUnavailable, fmt::format("{}: wanted at most {} bytes, found more", path, kRecordFileMax));
}

Result<void> make_own_folder(const std::string& path, mode_t mode) {
  const bool is_new = ::mkdir(path.c_str(), mode) == 0;
  if (!is_new && errno != EEXIST) return disk_trouble(path, "cannot be made");
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return disk_trouble(path, "cannot be read");
  if (!S_ISDIR(found.st_mode)) return invalid(path + ": wanted a folder, found another file");
  if (found.st_uid != ::geteuid()) {
    return invalid(
        fmt::format("{}: wanted a folder of user {}, found one of user {}", path, ::geteuid(), found.st_uid));
  }
  if ((found.st_mode & 07777U) == mode || ::chmod(path.c_str(), mode) == 0) return {};
  return disk_trouble(path, "its mode cannot be set");
}

Result<Descriptor> lock_file(const std::string& path, LockWait wait) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kRecordMode));
  if (!file.is_open()) return disk_trouble(path, "cannot be locked");
  const int how = wait == LockWait::kNone ? LOCK_EX | LOCK_NB : LOCK_EX;
  int taken = ::flock(file.number(), how);
  while (taken != 0 && errno == EINTR) taken = ::flock(file.number(), how);
  if (taken == 0) return file;
  if (errno == EWOULDBLOCK) return Descriptor();
  return disk_trouble(path, "cannot be locked");
}

std::string read_end(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return "";
  const off_t size = ::lseek(file.number(), 0, SEEK_END);
  if (size > static_cast<off_t>(bytes_max)) {
    ::lseek(file.number(), size - static_cast<off_t>(bytes_max), SEEK_SET);
  } else {
    ::lseek(file.number(), 0, SEEK_SET);
  }
  return read_from(file.number(), bytes_max);
}

}  // namespace berth::edges
