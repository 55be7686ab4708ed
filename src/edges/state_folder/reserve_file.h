/// A disk reserve as a file, whose bytes are written and synced.
#pragma once

#include <chrono>
#include <string>

#include "domain/ports/disk_reserve.h"

namespace berth::edges {

class ReserveFile final : public DiskReserve {
 public:
  /// The maximum size; also at most an eighth of its file system.
  static constexpr std::uint64_t kBytesMax = std::uint64_t{16} << 20U;

  /// Keeps an existing file, and does nothing else yet. `bytes_max`: for tests.
  explicit ReserveFile(std::string path, std::uint64_t bytes_max = kBytesMax);

  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] bool is_kept() const override { return is_kept_; }
  bool keep() override;
  void release() override;

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether it exists, with all its bytes on the disk.
  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool write() const;
  void sync_folder() const;

  std::string path_;
  std::uint64_t bytes_ = 0;
  bool is_kept_ = false;
  Clock::time_point again_at_;  ///< no attempt before this time: it would only fail again
};

}  // namespace berth::edges
