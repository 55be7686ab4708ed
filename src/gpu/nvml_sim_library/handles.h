/// The pointers that clients hold for GPUs, MIG devices and instances. They are addresses in a reserved region that
/// nobody can read or write, so they are never null and never memory of the client (a Go runtime looks at what it finds
/// on a stack); what each stands for follows from its distance to the region's begin.
///
/// The same thing has the same handle. A handle is good while the thing exists: an instance that is made again with the
/// same ids gets another one, and after the last shutdown each must be looked up again, as with the real library.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/nvml_sim/state.h"

namespace berth::edges {

enum class HandleKind : std::uint8_t { kGpu, kMigDevice, kGpuInstance, kComputeInstance };

/// What a handle stands for. The ids are those of NVML, -1 where the kind has none.
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

  /// The handle of something that exists. It is valid from now on, in this session.
  [[nodiscard]] void* handle_of(const nvml_sim::MachineRecord& machine, const Target& target);
  /// What a handle stands for, if it was looked up in this session and still exists.
  [[nodiscard]] std::optional<Target> target_of(const nvml_sim::MachineRecord& machine, const void* handle);

  /// After the last shutdown: every handle must be looked up again.
  void end_session();

  /// For a fork: nobody else is inside meanwhile.
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
  std::vector<LookedUp> looked_up_;  ///< by the number of the target
};

}  // namespace berth::edges
