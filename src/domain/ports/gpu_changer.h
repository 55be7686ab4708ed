/// Changes to the GPUs of this machine, call by call, as their driver's library makes them. Only a privileged process
/// has one of these.
#pragma once

#include <cstdint>
#include <string>

#include "domain/ports/gpu_library.h"

namespace berth {

/// What became of a change of the MIG mode.
enum class ModeChange : std::uint8_t {
  kDone,
  kNeedsReset,  ///< it is pending the next reset of the GPU
  kInUse,       ///< the same, as somebody uses the GPU
};

/// Thread-safe. Calls on one GPU may be slow, or hang; they hold up no calls on other GPUs.
class GpuChanger {
 public:
  virtual ~GpuChanger() = default;

  /// Returns its id.
  [[nodiscard]] virtual GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t profile_id,
                                                                     int start, int length) = 0;
  /// One that covers all of the GPU instance; returns its id.
  [[nodiscard]] virtual GpuAnswer<std::uint32_t> create_compute_instance(const std::string& uuid,
                                                                         std::uint32_t gpu_instance) = 0;
  [[nodiscard]] virtual GpuAnswer<void> destroy_compute_instance(const std::string& uuid, std::uint32_t gpu_instance,
                                                                 std::uint32_t id) = 0;
  [[nodiscard]] virtual GpuAnswer<void> destroy_gpu_instance(const std::string& uuid, std::uint32_t id) = 0;
  [[nodiscard]] virtual GpuAnswer<ModeChange> set_mig_mode(const std::string& uuid, bool is_on) = 0;
};

}  // namespace berth
