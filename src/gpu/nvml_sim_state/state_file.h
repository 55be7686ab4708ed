/// The file in which the processes of a simulated machine share its state. It is mapped by all of them.
///
/// Locks are open-file-description locks of Linux: the kernel drops them when the last descriptor of a dead process is
/// closed, also after kill -9. One protects the state and is held for microseconds; one for each GPU is held by the
/// thread that changes that GPU, for the duration of the call.
///
/// A change is atomic: the records that it may touch are copied before. If a holder dies in the middle, the copies
/// remain, and the next holder restores them. (The kernel preserves the order of a killed process's stores; a simulated
/// machine does not survive a power cut.)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/nvml_sim/state.h"

namespace berth::edges {

/// Thread-safe: descriptors and locks of threads of one process exclude each other, too.
class SimStateFile {
  struct OnlyByOpen {};

 public:
  /// Writes a new state to PATH.new and renames it. Readable and writable for everyone, as the device files of a GPU
  /// are.
  [[nodiscard]] static Result<void> create(const std::string& path, const nvml_sim::MachineRecord& machine);
  /// kNotFound: no such file. kInvalidInput: it is not a state, or of another version.
  [[nodiscard]] static Result<std::unique_ptr<SimStateFile>> open(const std::string& path);

  SimStateFile(OnlyByOpen by, std::string path);
  SimStateFile(const SimStateFile&) = delete;
  SimStateFile& operator=(const SimStateFile&) = delete;
  ~SimStateFile();

  /// Calls `look` while nothing changes.
  void read(const std::function<void(const nvml_sim::MachineRecord&)>& look);

  /// Changes one GPU, or nothing if this process dies meanwhile. It may post events, which are undone with the change.
  void change(std::uint32_t gpu, const std::function<void(nvml_sim::MachineRecord&)>& work);
  /// The same for all GPUs and the machine's own fields.
  void change_all(const std::function<void(nvml_sim::MachineRecord&)>& work);

  /// The lock of a GPU, held by the caller while the device works on a change; others wait. Released on destruction.
  class ChangeLock {
   public:
    ChangeLock(SimStateFile* file, std::uint32_t gpu) : file_(file), gpu_(gpu) {}
    ChangeLock(ChangeLock&& other) noexcept : file_(other.file_), gpu_(other.gpu_) { other.file_ = nullptr; }
    ChangeLock& operator=(ChangeLock&&) = delete;
    ~ChangeLock();

   private:
    SimStateFile* file_;
    std::uint32_t gpu_;
  };
  [[nodiscard]] ChangeLock lock_changes(std::uint32_t gpu);

  /// Waits until an event of one of these GPUs (bit N: GPU N) is posted after `posted`, or for at most `micros_max`.
  /// May return spuriously.
  void wait_for_event(std::uint64_t posted, std::int64_t micros_max, std::uint64_t gpus = UINT64_MAX);

  /// To be called in the child of a fork: closes the parent's file without touching its locks. Nothing else may be
  /// called afterwards.
  void abandon();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Locks;
  std::string path_;
  int descriptor_ = -1;
  void* mapped_ = nullptr;
  std::unique_ptr<Locks> locks_;
};

}  // namespace berth::edges
