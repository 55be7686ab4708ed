#include "edges/files/appended_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace berth::edges {
namespace {

/// More than any line has.
constexpr std::size_t kLineBytesMax = std::size_t{1} << 20U;
constexpr mode_t kAppendedMode = 0644;

tl::unexpected<Error> file_failure(const std::string& path, std::string_view doing, int number) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("{}: cannot {}: {}", path, doing, std::generic_category().message(number)));
}

/// The size of a regular file; nothing of a pipe or a device.
std::optional<std::size_t> size_of(const detail::Descriptor& file) {
  struct stat status{};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

Result<AppendedFile> AppendedFile::open(const std::string& path) {
  struct stat status{};
  const bool is_stream = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const int access = is_stream ? O_WRONLY : O_RDWR;  // a regular file is read for its end
  const int number = ::open(path.c_str(), access | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kAppendedMode);
  if (number < 0) return file_failure(path, "open", errno);
  AppendedFile file(path, detail::Descriptor(number));
  if (!size_of(file.file_)) return file;
  if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: another process writes to it", path));
  }
  if (auto repaired = file.repair_end(); !repaired) return pass_on(repaired.error());
  return file;
}

Result<std::string> AppendedFile::last_lines(std::size_t bytes_max) const {
  const std::size_t size = size_of(file_).value_or(0);
  const std::size_t begin = size - std::min(size, bytes_max);
  std::string bytes(size - begin, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_failure(path_, "read", errno);
    if (count == 0) bytes.resize(done);
    done += static_cast<std::size_t>(count);
  }
  if (begin > 0) bytes.erase(0, std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  return bytes;
}

Result<void> AppendedFile::repair_end() const {
  const std::size_t size = size_of(file_).value_or(0);
  const std::size_t begin = size - std::min(size, kLineBytesMax);
  std::string end(size - begin, '\0');
  if (::pread(file_.number(), end.data(), end.size(), static_cast<off_t>(begin)) != static_cast<ssize_t>(end.size())) {
    return file_failure(path_, "read", errno);
  }
  const std::size_t last = end.rfind('\n');
  const std::size_t unfinished = end.size() - (last == std::string::npos ? 0 : last + 1);
  if (unfinished == 0) return {};
  if (::ftruncate(file_.number(), static_cast<off_t>(size - unfinished)) != 0) {
    return file_failure(path_, "remove its unfinished last line", errno);
  }
  return {};
}

Result<void> AppendedFile::append(std::string_view lines) {
  if (waiting_.size() + lines.size() <= kWaitingBytesMax) waiting_ += lines;
  while (!waiting_.empty()) {
    const ssize_t written = ::write(file_.number(), waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_failure(path_, "write", errno);
    waiting_.erase(0, static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace berth::edges
