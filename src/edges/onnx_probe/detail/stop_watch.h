/// Ends runs of ONNX Runtime when they take too long or are not wanted any more.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "edges/onnx_runtime/onnx_headers.h"

namespace berth::edges::detail {

/// Has a thread only if there is something to watch.
class StopWatch {
 public:
  StopWatch(std::function<bool()> is_stopped, std::optional<std::chrono::steady_clock::time_point> deadline);
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch();

  /// Whether the time is over or the caller has stopped.
  [[nodiscard]] bool is_over() const { return is_over_; }

  /// Runs with these options, which end when the watch is over: until the end of the scope. One at a time.
  class Scope {
   public:
    Scope(StopWatch& watch, Ort::RunOptions& options);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    StopWatch& watch_;
  };

 private:
  void watch();
  [[nodiscard]] bool is_time() const;

  std::function<bool()> is_stopped_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::atomic<bool> is_over_ = false;
  std::mutex lock_;  ///< of the following
  std::condition_variable changed_;
  bool is_ending_ = false;
  Ort::RunOptions* running_ = nullptr;
  std::thread thread_;
};

}  // namespace berth::edges::detail
