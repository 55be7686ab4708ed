#include "edges/files/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "edges/files/detail/descriptor.h"

namespace berth::edges {
namespace {

using detail::Descriptor;
using detail::system_error;

constexpr std::size_t kBufferBytes = 1U << 18U;
constexpr int kPartAttemptsMax = 100;
constexpr int kLinksMax = 40;
constexpr std::int64_t kDescriptorMax = 1'000'000;
constexpr mode_t kFileMode = 0666;  // less the user's umask

/// Makes a rename durable by syncing the folder. Does nothing on systems that cannot.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) ::fsync(directory.number());
}

/// Where a path leads, after following symbolic links.
struct WriteTarget {
  std::string path;
  bool is_stream = false;  ///< a device or pipe: written directly, as nothing could be renamed over it
  std::optional<int> open_as = std::nullopt;  ///< a descriptor of this process: /dev/stdout
};

/// The descriptor that a path names, whatever it refers to: a file that a shell has opened for this process must be
/// written at its current offset, not replaced.
std::optional<int> descriptor_named(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const auto number = parse_count(std::string_view(path).substr(folder.size()), kDescriptorMax);
    if (number) return static_cast<int>(*number);
  }
  return std::nullopt;
}

/// Follows links to the last path, which need not exist, or to a descriptor.
Result<WriteTarget> followed(const std::string& path) {
  std::filesystem::path at = path;
  for (int links = 0; links < kLinksMax; ++links) {
    if (const auto number = descriptor_named(at.string())) return WriteTarget{path, true, number};
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) return WriteTarget{at.string()};
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return invalid(fmt::format("{}: wanted a file to write, found a loop of links", path));
}

Result<WriteTarget> target_of(const std::string& path) {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  auto target = followed(path);
  if (!target || target->open_as) return target;
  struct stat status{};
  if (::stat(target->path.c_str(), &status) != 0) return target;
  if (S_ISDIR(status.st_mode)) return invalid(fmt::format("{}: wanted a file to write, found a directory", path));
  target->is_stream = !S_ISREG(status.st_mode);
  return target;
}

/// Opens a device or pipe, or a further descriptor of one that is open.
int open_stream(const WriteTarget& target) {
  if (target.open_as) return ::fcntl(*target.open_as, F_DUPFD_CLOEXEC, 0);
  return ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

struct FileSink::State {
  State(WriteTarget at, std::string part, Descriptor open_file)
      : target(std::move(at)), part_path(std::move(part)), file(std::move(open_file)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!is_committed && !target.is_stream) ::unlink(part_path.c_str());
  }

  Result<void> flush() {
    if (failure) return pass_on(*failure);
    const int number = detail::write_all(file, buffer);
    buffer.clear();
    if (number != 0) failure = system_error(target.path, "write", number).value();
    if (failure) return pass_on(*failure);
    return {};
  }

  WriteTarget target;
  std::string part_path;
  Descriptor file;
  std::string buffer;
  std::optional<Error> failure;
  bool is_committed = false;
};

FileSink::FileSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSink::FileSink(FileSink&&) noexcept = default;
FileSink& FileSink::operator=(FileSink&&) noexcept = default;
FileSink::~FileSink() = default;

Result<FileSink> FileSink::open(const std::string& path) {
  auto target = target_of(path);
  if (!target) return pass_on(target.error());
  if (target->is_stream) {
    Descriptor stream(open_stream(*target));
    if (!stream.is_open()) return system_error(path, "write", errno);
    return FileSink(std::make_unique<State>(std::move(*target), std::string(), std::move(stream)));
  }
  // A killed process with the same pid may have left a part.
  for (int attempt = 0; attempt < kPartAttemptsMax; ++attempt) {
    const std::string part = fmt::format("{}.{}.{}.part", target->path, ::getpid(), attempt);
    Descriptor file(::open(part.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_CREAT | O_EXCL, kFileMode));
    if (file.is_open()) return FileSink(std::make_unique<State>(std::move(*target), part, std::move(file)));
    if (errno != EEXIST) break;
  }
  return system_error(path, "write", errno);
}

Result<void> FileSink::append(std::string_view bytes) {
  ENSURE(!state_->is_committed);
  state_->buffer += bytes;
  if (state_->buffer.size() < kBufferBytes) return {};
  return state_->flush();
}

Result<void> FileSink::commit() {
  State& state = *state_;
  ENSURE(!state.is_committed);
  if (const auto flushed = state.flush(); !flushed) return flushed;
  const bool is_synced = state.target.is_stream || ::fsync(state.file.number()) == 0;
  if (!is_synced || !state.file.close()) return system_error(state.target.path, "write", errno);
  if (state.target.is_stream) {
    state.is_committed = true;
    return {};
  }
  if (::rename(state.part_path.c_str(), state.target.path.c_str()) != 0) {
    return system_error(state.target.path, "write", errno);
  }
  state.is_committed = true;
  sync_folder_of(state.target.path);
  return {};
}

Result<void> write_file_whole(const std::string& path, std::string_view bytes) {
  auto sink = FileSink::open(path);
  if (!sink) return pass_on(sink.error());
  if (const auto appended = sink->append(bytes); !appended) return appended;
  return sink->commit();
}

}  // namespace berth::edges
