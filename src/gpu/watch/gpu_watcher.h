/// Watches the GPUs of this machine: a thread for each reads it on every event, and once per second. A GPU whose driver
/// hangs blocks only its own thread.
#pragma once

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain/ports/gpu_library.h"

namespace berth::edges {

/// What an XID is attributed to.
struct XidSource {
  std::uint64_t xid = 0;
  std::optional<std::uint32_t> gpu_instance = std::nullopt;  ///< absent: the whole GPU
  friend auto operator<=>(const XidSource&, const XidSource&) = default;
};

/// The last reading of a GPU, and the events since the last report.
struct GpuReport {
  std::uint32_t gpu = 0;  ///< its number as given to the watcher
  GpuAnswer<GpuReading> reading;
  std::map<XidSource, std::uint64_t> xids;         ///< count of each
  std::chrono::steady_clock::time_point began_at;  ///< of the reading: later changes may be missing in it
};

/// The newest figures of a GPU.
struct GpuMeasured {
  GpuMeasurement figures;
  GpuFigures more = {};  ///< with GpuWatcherOptions::collects_figures
  std::chrono::steady_clock::time_point at;
};

/// The XIDs of a GPU since the watcher started.
struct GpuXids {
  std::map<std::uint64_t, std::uint64_t> counts;  ///< by XID
  std::uint64_t last = 0;                         ///< 0: there was none
};

struct GpuWatcherOptions {
  std::chrono::milliseconds reads_every{1000};
  bool collects_figures = false;  ///< each GPU is also asked for what monitoring systems collect
};

class GpuWatcher {
 public:
  /// `gpus`: the UUID of each GPU by its number in reports. `library` is borrowed.
  GpuWatcher(GpuLibrary& library, std::map<std::uint32_t, std::string> gpus, GpuWatcherOptions options = {});
  GpuWatcher(const GpuWatcher&) = delete;
  GpuWatcher& operator=(const GpuWatcher&) = delete;
  /// Waits for calls that hang, unless `stop` was called before.
  ~GpuWatcher();

  void start();
  /// Waits until each GPU was read or found unreadable, for at most `at_most`.
  void wait_for_readings(std::chrono::milliseconds at_most);
  /// From now on `on_report` is called by any of the threads when there is news: once for a reading, and once for the
  /// XIDs between two readings. The calling thread calls it if there is news already.
  void call(std::function<void()> on_report);
  /// Ends the threads; those whose driver hangs are left behind, and need `library` until the process ends. `on_report`
  /// is not called afterwards. Returns whether all have ended within that time.
  bool stop(std::chrono::milliseconds at_most);
  /// Passes ownership of the library to the threads that `stop` left behind; it is destroyed with the last one.
  void leave_behind(std::unique_ptr<GpuLibrary> library);

  /// The reports since the last call, by GPU: one for each GPU whose reading changed, or that had an XID.
  [[nodiscard]] std::vector<GpuReport> take_reports();
  /// Makes a GPU's next reading count as changed, because the caller rejected the reported one.
  void read_again(std::uint32_t gpu);
  /// The GPU's figures, which are asked for after each reading and are not reported. Absent: none yet, or the last
  /// attempt failed. They are old where the driver hangs (GpuMeasured::at).
  [[nodiscard]] std::optional<GpuMeasured> measured(std::uint32_t gpu) const;
  [[nodiscard]] GpuXids xids(std::uint32_t gpu) const;
  /// How long the GPU's thread has been waiting for an answer of the driver. Seconds mean that it hangs, as waits for
  /// events are split into 0.25 s; 0: it is not waiting.
  [[nodiscard]] std::chrono::milliseconds waiting_for(std::uint32_t gpu) const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< shared, so that a thread left behind can still use it
  std::vector<std::thread> threads_;
  std::map<std::uint32_t, std::string> gpus_;
};

}  // namespace berth::edges
