/// Changes to the GPUs of this machine through the driver's library, one call each. Only a privileged process has one.
#pragma once

#include <cstdint>
#include <string>

#include "domain/ports/gpu_library.h"

namespace berth {

/// The outcome of a change of the MIG mode.
enum class ModeChange : std::uint8_t {
  kDone,
  kNeedsReset,  ///< it takes effect at the next reset of the GPU
  kInUse,       ///< the same, because a process uses the GPU
};

/// Thread-safe. Calls on one GPU may be slow or hang; they do not block calls on other GPUs.
class GpuChanger {
 public:
  virtual ~GpuChanger() = default;

  /// Creates a GPU instance at a start (`start`, `length` in placement units) and returns its id.
  [[nodiscard]] virtual GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                                     int start, int length) = 0;
  /// Creates a compute instance that covers the whole GPU instance and returns its id.
  [[nodiscard]] virtual GpuAnswer<std::uint32_t> create_compute_instance(const std::string& uuid,
                                                                         std::uint32_t gpu_instance) = 0;
  [[nodiscard]] virtual GpuAnswer<void> destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                                 std::uint32_t id) = 0;
  [[nodiscard]] virtual GpuAnswer<void> destroy_gpu_instance(const std::string& uuid, std::uint32_t id) = 0;
  /// Turns the MIG mode on or off; the change may wait for a reset (ModeChange).
  [[nodiscard]] virtual GpuAnswer<ModeChange> set_mig_mode(const std::string& uuid, bool is_on) = 0;
};

}  // namespace berth
