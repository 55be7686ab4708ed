#include "edges/live_driver/live_driver.h"

#include <algorithm>
#include <utility>

namespace berth::edges {
namespace {

/// Steps after which others get a turn, and the clock is read again.
constexpr int kBurstSteps = 50;
/// At a low speed a world's second is long: the simulated world goes on in pieces, so that a step of the engine has
/// little of it left to do. What waits for approval expires between steps, too.
constexpr std::chrono::milliseconds kLongestSleep{50};

}  // namespace

LiveDriver::LiveDriver(live::Session& session, std::mutex& lock, SolverThread* solver, LiveDriverOptions options)
    : session_(session), lock_(lock), solver_(solver), options_(std::move(options)) {
  if (solver_ == nullptr) return;
  solver_->on_solved([this] {
    {
      const std::scoped_lock hold(own_lock_);
      has_solution_ = true;
    }
    changed_.notify_all();
  });
}

void LiveDriver::start() {
  began_ = Clock::now();
  thread_ = std::thread([this] { run(); });
}

void LiveDriver::stop() {
  {
    const std::scoped_lock hold(own_lock_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<WorldEnd> LiveDriver::wait_for_end(std::chrono::milliseconds at_most) {
  std::unique_lock hold(own_lock_);
  changed_.wait_for(hold, at_most, [this] { return end_.has_value(); });
  return end_;
}

StepTimes LiveDriver::step_times() const {
  const std::scoped_lock hold(own_lock_);
  return steps_.times();
}

// ---- the world's thread

void LiveDriver::run() {
  while (true) {
    const bool is_late = run_burst();
    if (options_.progressed) options_.progressed();
    std::unique_lock hold(own_lock_);
    if (end_ || is_stopping_) {
      changed_.notify_all();
      return;
    }
    if (is_late) continue;
    Instant next;
    {
      hold.unlock();
      const std::scoped_lock session(lock_);
      next = Instant::at_second(session_.now().second() + 1);
      hold.lock();
    }
    changed_.wait_until(hold, std::min(wall_time_of(next), Clock::now() + kLongestSleep),
                        [this] { return is_stopping_ || has_solution_; });
    has_solution_ = false;
    if (is_stopping_) return;
  }
}

bool LiveDriver::run_burst() {
  for (int step = 0; step < kBurstSteps; ++step) {
    const Clock::time_point began = Clock::now();  // waiting for the lock is part of a step
    const std::scoped_lock hold(lock_);
    if (step == 0) session_.expire_overdue();
    take_solution();
    const Instant until = due_until();
    if (!session_.advance(until)) {
      const bool is_at_end = options_.until && session_.now() >= *options_.until;
      const std::scoped_lock own(own_lock_);
      if (session_.infeasible()) {
        end_ = WorldEnd::kInfeasible;
      } else if (session_.is_over() || is_at_end) {
        end_ = WorldEnd::kReached;
      }
      return false;
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - began;
    const std::scoped_lock own(own_lock_);
    steps_.add(took.count());
    if (is_stopping_) return false;
  }
  return true;
}

void LiveDriver::take_solution() {
  if (solver_ == nullptr) return;
  if (auto answer = solver_->take_answer()) session_.answer(std::move(*answer));
}

Instant LiveDriver::due_until() const {
  Instant until = options_.until.value_or(Instant::never());
  if (options_.speed <= 0) return until;
  const std::chrono::duration<double, std::micro> passed = Clock::now() - began_;
  return std::min(until, Instant(static_cast<std::int64_t>(passed.count() * options_.speed)));
}

LiveDriver::Clock::time_point LiveDriver::wall_time_of(Instant at) const {
  if (options_.speed <= 0) return Clock::now();
  const std::chrono::duration<double, std::micro> passed(static_cast<double>(at.micros()) / options_.speed);
  return began_ + std::chrono::duration_cast<Clock::duration>(passed);
}

}  // namespace berth::edges
