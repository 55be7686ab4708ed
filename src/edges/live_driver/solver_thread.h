/// The thread that solves, one question at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "domain/values/event.h"
#include "domain/values/metric.h"
#include "engine/loop/engine.h"

namespace berth::edges {

class SolverThread {
 public:
  SolverThread();
  SolverThread(const SolverThread&) = delete;
  SolverThread& operator=(const SolverThread&) = delete;
  /// Waits for the solve under way.
  ~SolverThread();

  /// Sets the function called on the solver's thread when an answer is available; may be empty. It must not call this
  /// object. After the return the former function is no longer called.
  void on_solved(std::function<void()> notify) {
    const std::scoped_lock hold(lock_);
    notify_ = std::move(notify);
  }
  /// Requires: the last answer was taken.
  void ask(SolveRequest request);
  [[nodiscard]] std::optional<SolveFinished> take_answer();
  /// The same, after waiting for it for at most `at_most`.
  [[nodiscard]] std::optional<SolveFinished> wait_for_answer(std::chrono::milliseconds at_most);

  [[nodiscard]] bool is_solving() const;
  /// The solve time of the last answer; 0: there was none.
  [[nodiscard]] double last_solve_ms() const;
  /// Of all answers, in seconds.
  [[nodiscard]] MetricHistogram solve_histogram() const;

 private:
  void run();

  std::function<void()> notify_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::optional<SolveRequest> question_;
  std::optional<SolveFinished> answer_;
  bool is_solving_ = false;
  bool is_stopping_ = false;
  double last_ms_ = 0;
  MetricHistogram solves_ = empty_times();
  std::thread thread_;
};

}  // namespace berth::edges
