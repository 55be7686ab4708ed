#include "gpu/program_runner/trusted_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "gpu/hands/descriptor.h"

namespace berth::edges {
namespace {

struct FreeText {
  void operator()(char* text) const { ::free(text); }
};

/// One file, folder or link. Requires: no link on the way to it.
Result<void> check_part(const std::string& path, const std::string& part) {
  struct stat found = {};
  if (::lstat(part.c_str(), &found) != 0) return invalid(fmt::format("{}: {}", part, std::strerror(errno)));
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
    return invalid(fmt::format("{}: wanted {} to belong to root or user {}, found user {}", path, part, ::geteuid(),
                               found.st_uid));
  }
  const bool others_may_write = !S_ISLNK(found.st_mode) && (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_sticky_folder = S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0;
  if (!others_may_write || is_sticky_folder) return {};
  return invalid(fmt::format("{}: wanted {} to be writable by its owner alone, found mode {:04o}", path, part,
                             found.st_mode & 07777U));
}

}  // namespace

Result<void> check_trusted(const std::string& path) {
  const std::unique_ptr<char, FreeText> real(::realpath(path.c_str(), nullptr));
  if (!real) return invalid(fmt::format("wanted a file, found {}: {}", path, std::strerror(errno)));
  // The links on the way count, too: whoever can change one decides what the path means.
  constexpr int kLinksMax = 40;
  std::error_code trouble;
  std::string left = std::filesystem::absolute(path, trouble).string();
  std::string done;  // has no link; empty: the root
  for (int links = 0; !left.empty();) {
    const std::size_t end = left.find('/');
    const std::string name = left.substr(0, end);
    left = end == std::string::npos ? "" : left.substr(end + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      done = done.substr(0, done.rfind('/'));
      continue;
    }
    const std::string part = done + "/" + name;
    if (auto checked = check_part(path, part); !checked) return checked;
    const std::string target = std::filesystem::read_symlink(part, trouble).string();
    if (trouble) {  // no link
      done = part;
      continue;
    }
    if (++links > kLinksMax) return invalid(fmt::format("{}: wanted fewer links on the way, found a loop", path));
    if (target.starts_with('/')) done.clear();
    left = target + "/" + left;
  }
  return check_part(path, "/");
}

Result<JudgedText> read_and_judge(const std::string& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat opened = {};
  if (!file.is_open() || ::fstat(file.number(), &opened) != 0) {
    const auto code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return fail(code, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(opened.st_mode)) return invalid(path + ": wanted a regular file, found another one");
  JudgedText judged{.text = "", .is_trusted = check_trusted(path)};
  struct stat there = {};
  const bool is_it =
      ::stat(path.c_str(), &there) == 0 && there.st_dev == opened.st_dev && there.st_ino == opened.st_ino;
  if (judged.is_trusted && !is_it) judged.is_trusted = invalid(path + ": wanted one file, found another one meanwhile");
  std::array<char, 65'536> piece{};
  while (true) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    if (count == 0) return judged;
    judged.text.append(piece.data(), static_cast<std::size_t>(count));
    if (judged.text.size() > bytes_max)
      return invalid(fmt::format("{}: wanted at most {} bytes, found more", path, bytes_max));
  }
}

Result<void> check_trusted_program(const std::string& path) {
  if (auto checked = check_trusted(path); !checked) return checked;
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || (found.st_mode & S_IXUSR) == 0) {
    return invalid(fmt::format("{}: wanted a program, found a file that cannot be executed", path));
  }
  return {};
}

Result<std::string> read_foreign_file(const std::string& folder, const std::string& name, std::size_t bytes_max) {
  const std::string path = folder + "/" + name;
  const Descriptor place(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Descriptor file(
      place.is_open() ? ::openat(place.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1);
  if (!file.is_open()) {
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput,
                fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  struct stat of_folder = {};
  struct stat of_file = {};
  if (::fstat(place.number(), &of_folder) != 0 || ::fstat(file.number(), &of_file) != 0 || !S_ISREG(of_file.st_mode) ||
      of_file.st_nlink != 1 || of_file.st_uid != of_folder.st_uid) {
    return invalid(path + ": wanted a file of the owner of its folder, found another one");
  }
  std::string text(bytes_max + 1, '\0');
  const ssize_t count = ::read(file.number(), text.data(), text.size());
  if (count < 0 || static_cast<std::size_t>(count) > bytes_max) {
    return invalid(fmt::format("{}: wanted at most {} bytes, found more", path, bytes_max));
  }
  text.resize(static_cast<std::size_t>(count));
  return text;
}

}  // namespace berth::edges
