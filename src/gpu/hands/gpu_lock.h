/// The right to change a GPU: one process of this machine has it at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/hands/descriptor.h"

namespace berth::edges {

/// $BERTH_GPU_LOCKS, else /run/lock/berth.
[[nodiscard]] std::string gpu_lock_folder();

/// Held as long as it exists, or its process does: the kernel releases it with the last descriptor.
class GpuLock {
 public:
  /// Who wants it; written into the file for others.
  struct Owner {
    std::int64_t pid = 0;
    std::string world;
  };
  /// Why it cannot be had.
  struct Refusal {
    std::optional<std::int64_t> owner_pid;  ///< absent: it is not a matter of an owner, or the file does not say
    std::string message;                    ///< "another berth process (pid 12) owns it"
  };

  /// Locks FOLDER/UUID.lock with flock(2); never waits. Folder (mode 0755, not its parents) and file (0644) are made
  /// where they are missing, and stay. The file holds pid and world, a line each, of who has it now or had it last.
  [[nodiscard]] static tl::expected<GpuLock, Refusal> take(const std::string& folder, const std::string& uuid,
                                                           const Owner& owner);

 private:
  explicit GpuLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace berth::edges
