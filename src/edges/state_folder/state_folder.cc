#include "edges/state_folder/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth::edges {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr std::size_t kKeyBytes = 32;

Error trouble(const std::string& path, const char* what) {
  return {ErrorCode::kUnavailable, fmt::format("{}: {}: {}", path, what, std::strerror(errno))};
}

/// The content of a small file; nothing if it is missing.
std::optional<std::string> read_small(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  return std::string(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
}

/// Writes a file atomically.
Result<void> write_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (file < 0) return tl::unexpected(trouble(part, "cannot be written"));
  const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool is_safe = ::fsync(file) == 0;
  ::close(file);
  if (!is_written || !is_safe) return tl::unexpected(trouble(part, "cannot be written"));
  if (std::rename(part.c_str(), path.c_str()) != 0) return tl::unexpected(trouble(path, "cannot be written"));
  return {};
}

/// The missing folders of a path, the outermost first.
std::vector<std::string> missing_folders(const std::string& path) {
  std::error_code error;
  std::vector<std::string> missing;
  std::filesystem::path folder = std::filesystem::absolute(path, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "engine/state/"
  for (; !std::filesystem::exists(folder, error) && folder.has_relative_path(); folder = folder.parent_path()) {
    missing.insert(missing.begin(), folder.string());
  }
  return missing;
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::absolute(path, error).parent_path();
  std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), kFolderMode) == 0) return {};
  if (errno != EEXIST) {
    const bool is_disk = errno == ENOSPC || errno == EDQUOT || errno == EIO;
    Error refused = trouble(path, "cannot be made");
    if (!is_disk) refused.code = ErrorCode::kInvalidInput;  // the user must choose another path
    return tl::unexpected(std::move(refused));
  }
  if (!std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: wanted a folder, found a file", path));
  }
  return {};
}

/// Whether the folder contains only files that we create.
bool has_own_files_only(const std::string& path) {
  constexpr std::array<std::string_view, 7> kOwn = {"lock",           "admin.key",    "address",         "gateway.key",
                                                    "admin.key.part", "address.part", "gateway.key.part"};
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (std::ranges::find(kOwn, it->path().filename().string()) == kOwn.end()) return false;
  }
  return !error;
}

}  // namespace

Result<std::unique_ptr<StateFolder>> StateFolder::open(const std::string& path) {
  std::vector<std::string> missing = missing_folders(path);
  if (auto made = make_folder(path); !made) return pass_on(made.error());
  const std::string lock_path = path + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (lock < 0) return tl::unexpected(trouble(lock_path, "cannot be opened"));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const std::string pid = read_small(lock_path).value_or("");
    ::close(lock);
    return fail(ErrorCode::kUnavailable, fmt::format("{}: in use by process {}", path, pid.substr(0, pid.find('\n'))));
  }
  struct stat held = {};
  if (::fstat(lock, &held) != 0 || held.st_nlink == 0) {  // its holder removed it before we got the lock
    ::close(lock);
    return fail(ErrorCode::kUnavailable, path + ": another process has just removed it");
  }
  auto folder = std::make_unique<StateFolder>(path, lock);
  folder->made_folders_ = std::move(missing);
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return tl::unexpected(trouble(lock_path, "cannot be written"));
  }
  folder->close_to_others();
  if (auto read = folder->read_or_make_key(); !read) return pass_on(read.error());
  return folder;
}

StateFolder::~StateFolder() { ::close(lock_); }

void StateFolder::discard_if_new() {
  if (made_folders_.empty() || !has_own_files_only(path_)) return;
  ::unlink(key_path().c_str());
  ::unlink((path_ + "/lock").c_str());
  while (!made_folders_.empty() && ::rmdir(made_folders_.back().c_str()) == 0) made_folders_.pop_back();
}

void StateFolder::close_to_others() {
  constexpr mode_t kOthers = 077;
  struct stat found = {};
  if (::stat(path_.c_str(), &found) != 0 || (found.st_mode & kOthers) == 0) return;
  const auto left_open = [&](const char* why) {
    warning_ = fmt::format("{}: others can look into it (mode {:04o}), and {}", path_, found.st_mode & 07777U, why);
  };
  if (!has_own_files_only(path_)) return left_open("its mode stays, as it holds files that are not of berth up");
  if (::chmod(path_.c_str(), kFolderMode) != 0) left_open("its mode cannot be changed");
}

/// Makes the key unreadable for other users, whoever wrote it.
Result<void> StateFolder::hide_key() const {
  if (::chmod(key_path().c_str(), kFileMode) == 0) return {};
  return tl::unexpected(trouble(key_path(), "cannot be kept from others"));
}

Result<void> StateFolder::read_or_make_key() {
  if (auto known = read_small(key_path())) {
    key_ = known->substr(0, known->find_first_of("\r\n"));
    if (!key_.empty()) return hide_key();
  }
  key_ = random_hex(kKeyBytes);
  if (key_.empty()) return tl::unexpected(trouble(key_path(), "the system has no random bytes"));
  return write_whole(key_path(), key_ + "\n");
}

Result<std::string> StateFolder::gateway_key() const {
  const std::string path = path_ + "/gateway.key";
  if (auto known = read_small(path)) {
    std::string key = known->substr(0, known->find_first_of("\r\n"));
    if (!key.empty() && ::chmod(path.c_str(), kFileMode) == 0) return key;
  }
  std::string key = random_hex(kKeyBytes);
  if (key.empty()) return tl::unexpected(trouble(path, "the system has no random bytes"));
  if (auto written = write_whole(path, key + "\n"); !written) return pass_on(written.error());
  return key;
}

Result<void> StateFolder::write_address(const std::string& url) const {
  return write_whole(path_ + "/address", url + "\n");
}

std::string random_hex(std::size_t byte_count) {
  std::vector<unsigned char> bytes(byte_count);
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Result<std::string> default_state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::string(state) + "/berth";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.local/state/berth";
  }
  return fail(ErrorCode::kInvalidInput, "--data: wanted a folder, found none, nor XDG_STATE_HOME, nor HOME");
}

}  // namespace berth::edges
