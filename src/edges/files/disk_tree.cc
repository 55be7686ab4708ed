#include "edges/files/disk_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "edges/files/detail/descriptor.h"

namespace berth::edges {
namespace {

using detail::Descriptor;
using detail::system_error;

/// Some 100,000 years: file systems accept any time, and sums of them must not overflow.
constexpr std::int64_t kSecondsMax = 4'000'000'000'000;
constexpr std::int64_t kNanosPerMicro = 1'000;

struct FolderClose {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

Micros micros_of(const timespec& time) {
  const std::int64_t seconds = std::clamp<std::int64_t>(time.tv_sec, -kSecondsMax, kSecondsMax);
  return Micros::seconds(seconds) + Micros(time.tv_nsec / kNanosPerMicro);
}

FileStamp stamp_of(const struct stat& status) {
  return {.bytes = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0)),
          .modified = micros_of(status.st_mtim),
          .inode = status.st_ino};
}

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::kFile;
  return S_ISDIR(mode) ? EntryKind::kFolder : EntryKind::kOther;
}

/// Nothing if it has vanished since the folder was read.
std::optional<FolderEntry> entry_of(int folder, const char* name) {
  struct stat status{};
  if (::fstatat(folder, name, &status, 0) == 0) {
    return FolderEntry{.name = name,
                       .kind = kind_of(status.st_mode),
                       .stamp = stamp_of(status),
                       .changed = std::max(micros_of(status.st_mtim), micros_of(status.st_ctim))};
  }
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return std::nullopt;
  return FolderEntry{.name = name, .kind = EntryKind::kOther};
}

class OpenDiskFile final : public OpenFile {
 public:
  OpenDiskFile(std::string path, Descriptor file, FileStamp stamp)
      : path_(std::move(path)), file_(std::move(file)), stamp_(stamp) {}

  [[nodiscard]] FileStamp stamp() const override { return stamp_; }
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> place) const override {
    std::size_t filled = 0;
    while (filled < place.size()) {
      const std::span<char> rest = place.subspan(filled);
      const ssize_t count = ::pread(file_.number(), rest.data(), rest.size(), static_cast<off_t>(offset + filled));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error(path_, "read", errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    return filled;
  }

 private:
  std::string path_;
  Descriptor file_;
  FileStamp stamp_;
};

}  // namespace

Result<std::vector<FolderEntry>> DiskTree::list(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  const std::unique_ptr<DIR, FolderClose> folder(::opendir(path.c_str()));
  if (!folder) return system_error(path, "list", errno);
  std::vector<FolderEntry> entries;
  while (true) {
    errno = 0;
    const dirent* const read = ::readdir(folder.get());
    if (read == nullptr && errno != 0) return system_error(path, "list", errno);
    if (read == nullptr) break;
    const std::string_view name = read->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == kEntryCountMax) {
      return invalid(fmt::format("{}: wanted a folder of at most {} entries, found more", path, kEntryCountMax));
    }
    if (auto entry = entry_of(::dirfd(folder.get()), read->d_name)) entries.push_back(std::move(*entry));
  }
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

Result<std::unique_ptr<OpenFile>> DiskTree::open(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return invalid("wanted a path, found one with a zero byte");
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return system_error(path, "open", errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error(path, "open", errno);
  if (!S_ISREG(status.st_mode)) return invalid(path + ": wanted a regular file, found a folder, a device or a pipe");
  return std::make_unique<OpenDiskFile>(path, std::move(file), stamp_of(status));
}

}  // namespace berth::edges
