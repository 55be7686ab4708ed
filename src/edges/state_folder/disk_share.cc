#include "edges/state_folder/disk_share.h"

#include <sys/statvfs.h>

#include <algorithm>

namespace berth::edges {

std::uint64_t disk_share_of(const std::string& folder, std::uint64_t bytes_max) {
  constexpr std::uint64_t kParts = 8;
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return bytes_max;
  return std::min<std::uint64_t>(bytes_max, disk.f_blocks * disk.f_frsize / kParts);
}

}  // namespace berth::edges
