/// The search for the GPUs of this machine, in a separate thread, as a driver may hang indefinitely.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/core/result.h"
#include "gpu/watch/local_machine.h"

namespace berth::edges {

/// Opens the library and lists the GPUs. Finding none is an ordinary answer. Error (bad input): the loaded library is
/// not the driver's, or too old. Lists nothing after a stop was requested.
[[nodiscard]] Result<LocalMachine> look_for_machine(const std::optional<std::string>& nvml_path, std::stop_token stop);

class MachineSearch {
 public:
  using Look = std::function<Result<LocalMachine>(std::stop_token stop)>;
  /// Starts the search. `library`: the description of the library, for messages.
  MachineSearch(std::string library, Look look);
  /// Starts the search with `look_for_machine`.
  explicit MachineSearch(const std::optional<std::string>& nvml_path);
  MachineSearch(const MachineSearch&) = delete;
  MachineSearch& operator=(const MachineSearch&) = delete;
  /// Requests a stop, and waits for the thread, however long a driver call hangs. See `is_running`.
  ~MachineSearch() = default;

  /// Waits for the result. A driver that has not answered within `patience` counts as none, with the reason. Requires:
  /// called once.
  [[nodiscard]] Result<LocalMachine> take(std::chrono::milliseconds patience = std::chrono::seconds(60));
  /// Requests an end after the current driver call; does not wait.
  void request_stop() { thread_.request_stop(); }
  /// Whether a driver call is still under way: a process that must end then must not destroy this.
  [[nodiscard]] bool is_running() const;

 private:
  const std::string library_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;                       ///< under mutex_
  std::optional<Result<LocalMachine>> found_;  ///< under mutex_
  std::jthread thread_;                        ///< joined before the above are destroyed
};

}  // namespace berth::edges
