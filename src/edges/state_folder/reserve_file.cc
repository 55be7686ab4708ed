#include "edges/state_folder/reserve_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "edges/state_folder/disk_share.h"

namespace berth::edges {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;
/// The pause after a failed attempt to write it although there seemed to be enough space.
constexpr std::chrono::seconds kPause{5};

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

/// Bytes that no file system stores in less space.
std::array<unsigned char, kBlockBytes> next_block(std::uint64_t& state) {
  std::array<unsigned char, kBlockBytes> block{};
  for (unsigned char& byte : block) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<unsigned char>(state >> 56U);
  }
  return block;
}

}  // namespace

ReserveFile::ReserveFile(std::string path, std::uint64_t bytes_max)
    : path_(std::move(path)), bytes_(disk_share_of(folder_of(path_), bytes_max)) {
  bytes_ -= bytes_ % kBlockBytes;
  is_kept_ = is_whole();
}

bool ReserveFile::keep() {
  if (is_kept_ || Clock::now() < again_at_ || !has_room()) return is_kept_;
  is_kept_ = write();
  if (!is_kept_) {
    ::unlink(path_.c_str());
    again_at_ = Clock::now() + kPause;
  }
  sync_folder();
  return is_kept_;
}

void ReserveFile::release() {
  if (!is_kept_) return;
  ::unlink(path_.c_str());
  sync_folder();  // some file systems give the space back with their next commit
  is_kept_ = false;
}

bool ReserveFile::is_whole() const {
  constexpr std::uint64_t kStatBlock = 512;
  struct stat file{};
  return ::stat(path_.c_str(), &file) == 0 && std::cmp_equal(file.st_size, bytes_) &&
         static_cast<std::uint64_t>(file.st_blocks) * kStatBlock >= bytes_;
}

/// Requires a quarter more than its size: else the next write would need the reserve at once.
bool ReserveFile::has_room() const {
  struct statvfs disk{};
  return ::statvfs(folder_of(path_).c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize >= bytes_ + bytes_ / 4;
}

bool ReserveFile::write() const {
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return false;
  std::uint64_t state = 1;
  bool is_written = true;
  for (std::uint64_t at = 0; is_written && at < bytes_; at += kBlockBytes) {
    const auto block = next_block(state);
    is_written = std::cmp_equal(::write(file, block.data(), block.size()), block.size());
  }
  is_written = is_written && ::fsync(file) == 0;
  ::close(file);
  return is_written;
}

void ReserveFile::sync_folder() const {
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace berth::edges
