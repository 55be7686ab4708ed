/// Watches the GPUs of this machine: a thread for each reads it when something happens to it, and once a second. A GPU
/// whose driver hangs holds up nobody but its own thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "domain/ports/gpu_library.h"

namespace berth::edges {

/// What was read of a GPU last, and what happened since the last time that somebody asked.
struct GpuReport {
  std::uint32_t gpu = 0;  ///< as it was given to the watcher
  GpuAnswer<GpuReading> reading;
  std::map<std::uint64_t, std::uint64_t> xids;     ///< how often each came
  std::chrono::steady_clock::time_point began_at;  ///< of the reading: what changed later may be missing in it
};

struct GpuWatcherOptions {
  std::chrono::milliseconds reads_every{1000};
};

class GpuWatcher {
 public:
  /// The GPUs by UUID, with the numbers by which reports know them. `library` is borrowed.
  GpuWatcher(GpuLibrary& library, std::map<std::uint32_t, std::string> gpus, GpuWatcherOptions options = {});
  GpuWatcher(const GpuWatcher&) = delete;
  GpuWatcher& operator=(const GpuWatcher&) = delete;
  /// Without `stop` it waits for calls that hang.
  ~GpuWatcher();

  void start();
  /// Waits until each GPU was read, or could not be, at most so long.
  void wait_for_readings(std::chrono::milliseconds at_most);
  /// From now on `on_report` is called by any of the threads when there is something new: once for a reading, and once
  /// for the XIDs between two of them. By this one, if there is something now.
  void call(std::function<void()> on_report);
  /// Ends the threads; those whose driver hangs are left behind, and must find `library` as long as the process lives.
  /// Nobody is called afterwards. Returns whether all have ended within that time.
  bool stop(std::chrono::milliseconds at_most);
  /// The library becomes that of the threads that `stop` left behind: the last one to return takes it along.
  void leave_behind(std::unique_ptr<GpuLibrary> library);

  /// Reports since the last call, by GPU: one for each that was read anew and shows something else, or had an XID.
  [[nodiscard]] std::vector<GpuReport> take_reports();
  /// Has a GPU read again soon: what was told of it was not believed.
  void read_again(std::uint32_t gpu);
  /// For how long the GPU's thread has been waiting for an answer of the driver: seconds mean that it hangs, as waiting
  /// for events is asked in pieces of 0.25 s; 0: it does not.
  [[nodiscard]] std::chrono::milliseconds waiting_for(std::uint32_t gpu) const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< a thread that is left behind still has it
  std::vector<std::thread> threads_;
  std::map<std::uint32_t, std::string> gpus_;
};

}  // namespace berth::edges
