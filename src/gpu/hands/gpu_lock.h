/// The right to change a GPU, held by one process of this machine at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

/// $BERTH_GPU_LOCKS, else /run/lock/berth.
[[nodiscard]] std::string gpu_lock_folder();

/// Held while this object, or its process, exists: the kernel releases it with the last descriptor.
class GpuLock {
 public:
  /// The requesting process; written into the file for other processes to read.
  struct Owner {
    std::int64_t pid = 0;
    std::string world;
  };
  /// Why it cannot be taken.
  struct Refusal {
    std::optional<std::int64_t> owner_pid;  ///< absent: the reason is not another owner, or the file does not name one
    std::string message;                    ///< "another berth process (pid 12) owns it"
  };

  /// Locks FOLDER/UUID.lock with flock(2); never waits. Creates the folder (mode 0755, but not its parents) and the
  /// file (0644) if missing, and leaves them. The file holds the pid and world, a line each, of the current or last
  /// owner.
  [[nodiscard]] static tl::expected<GpuLock, Refusal> take(const std::string& folder, const std::string& uuid,
                                                           const Owner& owner);

 private:
  explicit GpuLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace berth::edges
