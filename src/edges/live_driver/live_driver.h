/// Drives a session with the clock: one thread for the world and the engine, one for the solver.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/core/instant.h"
#include "base/locks/fair_mutex.h"
#include "edges/live_driver/solver_thread.h"
#include "edges/live_driver/step_meter.h"

namespace berth::live {
class Session;
}

namespace berth::edges {

class RealTimeClock;

struct LiveDriverOptions {
  double speed = 10;                            ///< world seconds per second; 0: as fast as possible
  RealTimeClock* clock = nullptr;               ///< borrowed: the world has its time, and `speed` is 1; null: none
  std::optional<Instant> until = std::nullopt;  ///< the world stops there
  std::function<void()> has_events = {};        ///< called when the session has new events, without the lock; or empty
  /// Called a few times per second of wall time, under the lock, to record what is pending. May be empty.
  std::function<void()> record = {};
  /// Called before and after each step, under the lock, and soon after `wake`: passes external events to the session,
  /// and its requests to external systems. May be empty.
  std::function<void()> serve_outside = {};
  /// Called before each step, under the lock: if it returns false, the world pauses. May be empty.
  std::function<bool()> may_go_on = {};
  /// Called after each step of the engine, under the lock. Returns whether `without_lock` has something to do. May be
  /// empty.
  std::function<bool()> stepped = {};
  /// Then called with the turn but without the lock: the session does not change, and readers may access it.
  std::function<void()> without_lock = {};
};

/// How the world ended.
enum class WorldEnd { kReached, kInfeasible };

class LiveDriver {
 public:
  /// `session`, which has begun, `turn`, `lock` and `solver` are borrowed. While the session changes, turn and lock are
  /// held, in that order and for one step at a time: the turn excludes other writers, the lock readers. `solver` has
  /// the session's questions.
  LiveDriver(live::Session& session, FairMutex& turn, FairMutex& lock, SolverThread& solver, LiveDriverOptions options);
  LiveDriver(const LiveDriver&) = delete;
  LiveDriver& operator=(const LiveDriver&) = delete;
  ~LiveDriver();

  void start();
  /// Ends the thread after its current step. A second call does nothing.
  void stop();
  /// Signals that there is work for `serve_outside`. May be called by any thread, also before `start` and after `stop`.
  void wake();
  /// Waits until the world has ended, for at most `at_most`.
  [[nodiscard]] std::optional<WorldEnd> wait_for_end(std::chrono::milliseconds at_most);

  /// Durations of the engine's steps so far, including their waits for the lock and the remaining work of the simulated
  /// world. May be called by any thread.
  [[nodiscard]] StepTimes step_times() const;
  /// The same as a histogram of seconds, of all steps.
  [[nodiscard]] MetricHistogram step_histogram() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// Advances to the clock's time, by at most a burst of steps. Returns whether more are already due.
  [[nodiscard]] bool run_burst();
  [[nodiscard]] std::optional<WorldEnd> find_end() const;
  /// How far the world may advance now. Time that was missed is jumped over. Requires: the world may go on.
  [[nodiscard]] Instant due_until();
  [[nodiscard]] Clock::time_point wall_time_of(Instant at) const;
  void record_if_due();
  void take_solution();
  void serve_outside();
  void tell_of_events();

  live::Session& session_;
  FairMutex& turn_;
  FairMutex& lock_;
  SolverThread& solver_;
  LiveDriverOptions options_;
  Clock::time_point began_;
  std::thread thread_;
  mutable std::mutex own_lock_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool has_solution_ = false;
  bool has_news_ = true;  ///< `wake` may have been called before the start
  std::optional<WorldEnd> end_;
  StepMeter steps_;  ///< under own_lock_
  // Used only by the world's thread:
  Instant from_;                   ///< the world's time when the clock began; with a clock of its own when it was read
  Clock::time_point recorded_at_;  ///< when `record` was called
  Clock::time_point answer_again_at_;
  std::optional<SolveFinished> answer_;  ///< of the solver, until the session can record it
  Clock::time_point next_due_;           ///< when something is due next
  std::uint64_t last_event_ = 0;         ///< of the session
  std::uint64_t told_event_ = 0;         ///< the last one reported by `has_events`
};

}  // namespace berth::edges
