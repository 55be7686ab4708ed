/// The pointers that clients hold for GPUs, MIG devices and instances. They are addresses in a reserved, inaccessible
/// region, so they are never null and never memory of the client (a Go runtime inspects values on its stack); the
/// target of each follows from its offset in the region.
///
/// The same object has the same handle. A handle is valid while the object exists: an instance that is recreated with
/// the same ids gets another one, and after the last shutdown all handles must be looked up again, as with the real
/// library.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/nvml_sim/state.h"

namespace berth::edges {

enum class HandleKind : std::uint8_t { kGpu, kMigDevice, kGpuInstance, kComputeInstance };

/// The target of a handle. The ids are those of NVML, -1 if the kind has none.
struct Target {
  HandleKind kind = HandleKind::kGpu;
  std::uint32_t gpu = 0;
  int gpu_instance = -1;
  int compute_instance = -1;
};

/// Thread-safe.
class Handles {
 public:
  Handles();

  /// The handle of an existing object. It is valid from now on, in this session.
  [[nodiscard]] void* handle_of(const nvml_sim::MachineRecord& machine, const Target& target);
  /// The target of a handle, if it was looked up in this session and still exists.
  [[nodiscard]] std::optional<Target> target_of(const nvml_sim::MachineRecord& machine, const void* handle);

  /// Called after the last shutdown: invalidates every handle.
  void end_session();

  /// Held around a fork, so that no other thread is inside.
  std::mutex& mutex() { return mutex_; }

 private:
  struct LookedUp {
    std::uint64_t session = 0;
    std::uint64_t boots = 0;
    std::uint32_t generation = 0;
  };
  std::mutex mutex_;
  char* begin_ = nullptr;
  std::uint64_t session_ = 1;
  std::vector<LookedUp> looked_up_;  ///< by the index of the target
};

}  // namespace berth::edges
