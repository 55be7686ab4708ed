#include "gpu/nvml_sim_program/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace berth::nvml_sim_cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadableFile = 0644;
constexpr mode_t kOpenFile = 0666;
constexpr mode_t kReadableFolder = 0755;
constexpr std::size_t kBytesMax = std::size_t{16} << 20U;

tl::unexpected<Error> failure(const fs::path& path, const char* what, int number) {
  const ErrorCode code = number == ENOENT   ? ErrorCode::kNotFound
                         : number == EISDIR ? ErrorCode::kInvalidInput
                                            : ErrorCode::kUnavailable;
  return fail(code, path.string() + ": " + what + ": " + text_of_errno(number));
}

}  // namespace

std::string text_of_errno(int number) { return std::strerror(number); }  // NOLINT(concurrency-mt-unsafe): one thread

Result<void> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return failure(path, "cannot be made", error.value());
  return {};
}

Result<void> write_file(const fs::path& path, std::string_view text, Writers writers) {
  // An existing file is opened without O_CREAT: in /tmp that is refused for files of other users, whatever their mode.
  int descriptor = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) {
    const mode_t mode = writers == Writers::kEveryone ? kOpenFile : kReadableFile;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (descriptor >= 0) ::fchmod(descriptor, mode);  // whatever the umask is
  }
  if (descriptor < 0) return failure(path, "cannot be written", errno);
  const bool is_written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int number = errno;
  ::close(descriptor);
  if (!is_written) return failure(path, "cannot be written", number);
  return {};
}

Result<void> make_link(const fs::path& target, const fs::path& link) {
  if (::symlink(target.c_str(), link.c_str()) != 0) return failure(link, "cannot be made", errno);
  return {};
}

Result<std::string> read_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(path, "cannot be read", errno);
  std::string text;
  std::array<char, 4096> part{};
  ssize_t count = 0;
  while ((count = ::read(descriptor, part.data(), part.size())) > 0 && text.size() < kBytesMax) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  const int number = errno;
  ::close(descriptor);
  if (count < 0) return failure(path, "cannot be read", number);
  if (count > 0) return fail(ErrorCode::kUnavailable, path.string() + ": wanted at most 16 MiB, found more");
  return text;
}

std::string read_if_there(const fs::path& path) { return read_file(path).value_or(""); }

Result<PrivateFolder> PrivateFolder::make() {
  const char* const root = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  std::error_code error;
  const fs::path parent = fs::absolute(root != nullptr && *root != '\0' ? root : "/tmp", error);
  std::string pattern = parent / "berth-nvml-sim.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return failure(pattern, "cannot be made", errno);
  PrivateFolder folder{fs::path(pattern)};
  // Other users, to whom a program may change, read what is in it.
  if (::chmod(pattern.c_str(), kReadableFolder) != 0) return failure(pattern, "cannot be opened to others", errno);
  return folder;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // no one could act on it
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace berth::nvml_sim_cli
