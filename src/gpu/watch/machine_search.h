/// The search for the GPUs of this machine, in a thread of its own: a driver may hang for as long as it likes.
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

/// Opens the library and lists the GPUs. That there is none is an ordinary answer. Error: what was loaded is no library
/// of the driver, or too old (bad input). Nothing is listed after a stop was asked for.
[[nodiscard]] Result<LocalMachine> look_for_machine(const std::optional<std::string>& nvml_path, std::stop_token stop);

class MachineSearch {
 public:
  using Look = std::function<Result<LocalMachine>(std::stop_token stop)>;
  /// Begins. `library`: the one that is asked, in words.
  MachineSearch(std::string library, Look look);
  /// The usual one.
  explicit MachineSearch(const std::optional<std::string>& nvml_path);
  MachineSearch(const MachineSearch&) = delete;
  MachineSearch& operator=(const MachineSearch&) = delete;
  /// Asks it to stop, and waits until it has: as long as a call of the driver hangs. See `is_running`.
  ~MachineSearch() = default;

  /// What was found. A driver that has not answered by then counts as none, with the reason. Call it once.
  [[nodiscard]] Result<LocalMachine> take(std::chrono::milliseconds patience = std::chrono::seconds(60));
  /// It ends after the call of the driver that is under way; does not wait.
  void request_stop() { thread_.request_stop(); }
  /// Whether a call of the driver is still waited for: a process that is to end then must end without this.
  [[nodiscard]] bool is_running() const;

 private:
  const std::string library_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;                       ///< under mutex_
  std::optional<Result<LocalMachine>> found_;  ///< under mutex_
  std::jthread thread_;                        ///< ends before the above
};

}  // namespace berth::edges
