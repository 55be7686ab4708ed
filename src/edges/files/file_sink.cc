#include "edges/files/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ensure.h"
#include "edges/files/detail/descriptor.h"

namespace berth::edges {
namespace {

using detail::Descriptor;
using detail::system_error;

constexpr std::size_t kBufferBytes = 1U << 18U;
constexpr int kPartAttemptsMax = 100;
constexpr mode_t kFileMode = 0666;  // less the user's umask

/// Makes a rename durable: the folder's entry is synced too. On systems that cannot do so nothing happens.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) ::fsync(directory.number());
}

/// What exists at a path, after following symbolic links.
struct WriteTarget {
  std::string path;
  bool is_stream = false;  ///< a device or pipe: written directly, as nothing could be renamed over it
};

Result<WriteTarget> target_of(const std::string& path) {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return WriteTarget{path};
  if (S_ISDIR(status.st_mode)) return invalid(fmt::format("{}: wanted a file to write, found a directory", path));
  if (!S_ISREG(status.st_mode)) return WriteTarget{path, true};
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return WriteTarget{error ? path : resolved.string()};
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
  const bool is_stream = target->is_stream;
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (is_stream ? 0 : O_CREAT | O_EXCL);
  // A killed process with the same number may have left a part.
  for (int attempt = 0; attempt < kPartAttemptsMax; ++attempt) {
    const std::string part = is_stream ? target->path : fmt::format("{}.{}.{}.part", target->path, ::getpid(), attempt);
    Descriptor file(::open(part.c_str(), flags, kFileMode));
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
