#include "edges/files/folder_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/core/ensure.h"
#include "edges/files/detail/descriptor.h"

namespace berth::edges {
namespace {

namespace fs = std::filesystem;
using detail::Descriptor;
using detail::system_error;

constexpr int kFolderAttemptsMax = 100;
constexpr mode_t kFolderMode = 0777;  // less the user's umask
constexpr mode_t kMemberMode = 0666;

/// Absolute, without a slash at the end; of a link, what it leads to.
fs::path whole_path(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const fs::path target = fs::canonical(whole, error);
  return error ? whole : target;
}

bool sync_folder(const fs::path& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return false;
  return ::fsync(directory.number()) == 0 || errno == EINVAL;  // not every file system can
}

}  // namespace

Result<void> check_new_folder(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return invalid("wanted a path of a folder, found none");
  const fs::path whole = whole_path(path);
  std::error_code error;
  const fs::file_status status = fs::symlink_status(whole, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return invalid(fmt::format("{}: wanted a new or an empty folder, found a file", path));
  }
  if (fs::is_directory(status) && !fs::is_empty(whole, error)) {
    return invalid(fmt::format("{}: wanted a new or an empty folder, found one with files", path));
  }
  const fs::path around = whole.parent_path();
  if (!fs::is_directory(around, error)) {
    return invalid(fmt::format("{}: wanted a folder in one that exists, found no {}", path, around.string()));
  }
  if (::access(around.c_str(), W_OK | X_OK) == 0) return {};
  return invalid(fmt::format("{}: wanted permission to write in {}, found none", path, around.string()));
}

struct FolderSink::State {
  State(std::string named, fs::path at, fs::path hidden)
      : path(std::move(named)), target(std::move(at)), part(std::move(hidden)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    std::error_code ignored;
    if (!is_committed) fs::remove_all(part, ignored);
  }

  std::string path;  ///< as in messages
  fs::path target;
  fs::path part;
  std::set<fs::path> folders = {};  ///< made in it
  bool is_committed = false;
};

FolderSink::FolderSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
FolderSink::FolderSink(FolderSink&&) noexcept = default;
FolderSink& FolderSink::operator=(FolderSink&&) noexcept = default;
FolderSink::~FolderSink() = default;

Result<FolderSink> FolderSink::open(const std::string& path) {
  if (auto checked = check_new_folder(path); !checked) return pass_on(checked.error());
  const fs::path target = whole_path(path);
  // A killed process with the same pid may have left a folder.
  for (int attempt = 0; attempt < kFolderAttemptsMax; ++attempt) {
    const fs::path part =
        target.parent_path() / fmt::format(".{}.{}.{}.part", target.filename().string(), ::getpid(), attempt);
    if (::mkdir(part.c_str(), kFolderMode) == 0) return FolderSink(std::make_unique<State>(path, target, part));
    if (errno != EEXIST) break;
  }
  return system_error(path, "write", errno);
}

Result<void> FolderSink::add(std::string_view name, std::string_view bytes) {
  ENSURE(!state_->is_committed);
  const fs::path relative = fs::path(name).lexically_normal();
  ENSURE(relative.is_relative() && relative.has_filename() && *relative.begin() != "..");
  const fs::path file_path = state_->part / relative;
  std::error_code error;
  fs::create_directories(file_path.parent_path(), error);
  if (error) return system_error(state_->path, "write", error.value());
  for (fs::path folder = file_path.parent_path(); folder != state_->part; folder = folder.parent_path()) {
    state_->folders.insert(folder);
  }
  Descriptor file(::open(file_path.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, kMemberMode));
  if (!file.is_open()) return system_error(state_->path, "write", errno);
  if (const int number = detail::write_all(file, bytes); number != 0) {
    return system_error(state_->path, "write", number);
  }
  if (::fsync(file.number()) != 0 || !file.close()) return system_error(state_->path, "write", errno);
  return {};
}

Result<void> FolderSink::commit() {
  State& state = *state_;
  ENSURE(!state.is_committed);
  for (const fs::path& folder : state.folders) {
    if (!sync_folder(folder)) return system_error(state.path, "write", errno);
  }
  if (!sync_folder(state.part)) return system_error(state.path, "write", errno);
  // Replaces an empty folder, and nothing else.
  if (::rename(state.part.c_str(), state.target.c_str()) != 0) {
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) {
      return invalid(fmt::format("{}: wanted a new or an empty folder, found another one meanwhile", state.path));
    }
    return system_error(state.path, "write", errno);
  }
  state.is_committed = true;
  static_cast<void>(sync_folder(state.target.parent_path()));
  return {};
}

}  // namespace berth::edges
