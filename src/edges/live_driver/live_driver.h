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

struct LiveDriverOptions {
  double speed = 10;                            ///< world seconds per second; 0: as fast as possible
  std::optional<Instant> until = std::nullopt;  ///< the world stops there
  std::function<void()> has_events = {};        ///< called when the session has new events, without the lock; or empty
  /// Called a few times per second of wall time, under the lock: what waits to be recorded should be. May be empty.
  std::function<void()> record = {};
  /// Called before and after each step, under the lock, and soon after `wake`: what happened outside of the world is
  /// told to the session, and what it wants of others is given to them. May be empty.
  std::function<void()> serve_outside = {};
  /// Asked before each step, under the lock: where it says no, the world stands still. May be empty.
  std::function<bool()> may_go_on = {};
  /// Called after each step of the engine, under the lock. Returns whether `without_lock` has something to do. May be
  /// empty.
  std::function<bool()> stepped = {};
  /// Then called, with the turn and without the lock: the session does not change, and others read it.
  std::function<void()> without_lock = {};
};

/// How the world came to its end.
enum class WorldEnd { kReached, kInfeasible };

class LiveDriver {
 public:
  /// `session`, which has begun, `turn`, `lock` and `solver` are borrowed. While the session changes, both are held, in
  /// that order and for one step at a time: the turn against others that change it, the lock against those that read.
  /// `solver` has the session's questions.
  LiveDriver(live::Session& session, FairMutex& turn, FairMutex& lock, SolverThread& solver, LiveDriverOptions options);
  LiveDriver(const LiveDriver&) = delete;
  LiveDriver& operator=(const LiveDriver&) = delete;
  ~LiveDriver();

  void start();
  /// Ends the thread after its present step. A second call does nothing.
  void stop();
  /// There is something for `serve_outside`. Any thread may say so, also before `start` and after `stop`.
  void wake();
  /// Waits until the world came to its end, at most so long.
  [[nodiscard]] std::optional<WorldEnd> wait_for_end(std::chrono::milliseconds at_most);

  /// Durations of the engine's steps so far, with what they waited for the lock and what the simulated world had left
  /// to do. Any thread may ask.
  [[nodiscard]] StepTimes step_times() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  /// Goes on to the clock's time, by at most a burst of steps. Returns whether more are due already.
  [[nodiscard]] bool run_burst();
  [[nodiscard]] std::optional<WorldEnd> find_end() const;
  [[nodiscard]] Instant due_until() const;
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
  bool has_news_ = true;  ///< at first somebody may have said so before
  std::optional<WorldEnd> end_;
  StepMeter steps_;  ///< under own_lock_
  // Of the world's thread:
  Instant from_;                   ///< where the world stood when the clock began
  Clock::time_point recorded_at_;  ///< when `record` was called
  Clock::time_point answer_again_at_;
  std::optional<SolveFinished> answer_;  ///< of the solver, as long as the session cannot record it
  Clock::time_point next_due_;           ///< when there is something to do again
  std::uint64_t last_event_ = 0;         ///< of the session
  std::uint64_t told_event_ = 0;         ///< the last one that `has_events` told of
};

}  // namespace berth::edges
