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

#include "edges/files/detail/descriptor.h"

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

/// Removes what a crash left of a line. A last line that only has no newline gets one.
Result<void> repair_end(const detail::Descriptor& file, const std::string& path) {
  const std::size_t size = size_of(file).value_or(0);
  const std::size_t begin = size - std::min(size, kLineBytesMax);
  std::string end(size - begin, '\0');
  if (::pread(file.number(), end.data(), end.size(), static_cast<off_t>(begin)) != static_cast<ssize_t>(end.size())) {
    return file_failure(path, "read", errno);
  }
  const std::size_t last = end.rfind('\n');
  const std::size_t unfinished = end.size() - (last == std::string::npos ? 0 : last + 1);
  if (unfinished == 0) return {};
  const bool is_cut = end[end.size() - unfinished] == '{' && end.back() != '}';
  if (!is_cut) {
    const int number = detail::write_all(file, "\n");
    return number == 0 ? Result<void>() : file_failure(path, "write", number);
  }
  if (::ftruncate(file.number(), static_cast<off_t>(size - unfinished)) != 0) {
    return file_failure(path, "remove its unfinished last line", errno);
  }
  return {};
}

/// Makes sure that no other process writes to a regular file, and that it ends with a line.
Result<void> take_file(const detail::Descriptor& file, const std::string& path) {
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: another process writes to it", path));
  }
  return repair_end(file, path);
}

}  // namespace

struct AppendedFile::State {
  std::string path;
  detail::Descriptor file;
  std::string waiting = {};
};

AppendedFile::AppendedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AppendedFile::AppendedFile(AppendedFile&&) noexcept = default;
AppendedFile& AppendedFile::operator=(AppendedFile&&) noexcept = default;
AppendedFile::~AppendedFile() = default;

Result<AppendedFile> AppendedFile::open(const std::string& path) {
  struct stat status{};
  const bool is_stream = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const int access = is_stream ? O_WRONLY : O_RDWR;  // a regular file is read for its end
  const int number = ::open(path.c_str(), access | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kAppendedMode);
  if (number < 0) return file_failure(path, "open", errno);
  detail::Descriptor file(number);
  if (size_of(file)) {
    if (auto taken = take_file(file, path); !taken) return pass_on(taken.error());
  }
  return AppendedFile(std::make_unique<State>(State{.path = path, .file = std::move(file)}));
}

Result<std::string> AppendedFile::last_lines(std::size_t bytes_max) const {
  const std::size_t size = size_of(state_->file).value_or(0);
  const std::size_t begin = size - std::min(size, bytes_max);
  std::string bytes(size - begin, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(state_->file.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_failure(state_->path, "read", errno);
    if (count == 0) bytes.resize(done);
    done += static_cast<std::size_t>(count);
  }
  if (begin > 0) bytes.erase(0, std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  return bytes;
}

Result<void> AppendedFile::append(std::string_view lines) {
  std::string& waiting = state_->waiting;
  if (waiting.size() + lines.size() <= kWaitingBytesMax) waiting += lines;
  while (!waiting.empty()) {
    const ssize_t written = ::write(state_->file.number(), waiting.data(), waiting.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_failure(state_->path, "write", errno);
    waiting.erase(0, static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace berth::edges
