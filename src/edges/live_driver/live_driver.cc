#include "edges/live_driver/live_driver.h"

#include <algorithm>
#include <utility>

#include "edges/live_driver/real_time_clock.h"
#include "live/session/event_log.h"
#include "live/session/session.h"

namespace berth::edges {
namespace {

/// Steps after which other threads get a turn, and the clock is read again.
constexpr int kBurstSteps = 50;
/// At a low speed a world's second is long: the simulated world advances in pieces, so that a step of the engine has
/// little of it left to process. Proposals expire between steps, too.
constexpr std::chrono::milliseconds kLongestSleep{50};
constexpr std::chrono::milliseconds kRecordsEvery{200};

}  // namespace

LiveDriver::LiveDriver(live::Session& session, FairMutex& turn, FairMutex& lock, SolverThread& solver,
                       LiveDriverOptions options)
    : session_(session), turn_(turn), lock_(lock), solver_(solver), options_(std::move(options)) {
  solver_.on_solved([this] {
    {
      const std::scoped_lock hold(own_lock_);
      has_solution_ = true;
    }
    changed_.notify_all();
  });
}

LiveDriver::~LiveDriver() {
  stop();
  solver_.on_solved({});
}

void LiveDriver::start() {
  began_ = recorded_at_ = Clock::now();
  from_ = session_.now();
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

void LiveDriver::wake() {
  {
    const std::scoped_lock hold(own_lock_);
    has_news_ = true;
  }
  changed_.notify_all();
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

MetricHistogram LiveDriver::step_histogram() const {
  const std::scoped_lock hold(own_lock_);
  return steps_.histogram();
}

// ---- the world's thread

void LiveDriver::run() {
  while (true) {
    const bool is_late = run_burst();
    tell_of_events();
    std::unique_lock hold(own_lock_);
    if (end_ || is_stopping_) {
      changed_.notify_all();
      return;
    }
    if (is_late) continue;
    changed_.wait_until(hold, std::min(next_due_, Clock::now() + kLongestSleep),
                        [this] { return is_stopping_ || has_solution_ || has_news_; });
    has_solution_ = has_news_ = false;
    if (is_stopping_) return;
  }
}

void LiveDriver::tell_of_events() {
  if (std::exchange(told_event_, last_event_) != last_event_ && options_.has_events) options_.has_events();
}

bool LiveDriver::run_burst() {
  for (int step = 0; step < kBurstSteps; ++step) {
    const Clock::time_point began = Clock::now();  // waiting for the lock is part of a step
    const std::scoped_lock turn(turn_);
    std::unique_lock hold(lock_);
    if (step == 0) session_.expire_overdue();
    if (step == 0) record_if_due();
    take_solution();
    const bool may_go_on = !options_.may_go_on || options_.may_go_on();
    const Instant until = may_go_on ? due_until() : session_.now();
    serve_outside();
    const bool was_step = may_go_on && session_.advance(until);
    if (was_step && options_.stepped && options_.stepped()) {
      hold.unlock();
      options_.without_lock();
      hold.lock();
    }
    last_event_ = session_.events().last_sequence();
    next_due_ = session_.awaits_answer() || !may_go_on ? Clock::time_point::max()
                                                       : wall_time_of(Instant::at_second(session_.now().second() + 1));
    const std::scoped_lock own(own_lock_);
    if (!was_step) {
      end_ = find_end();
      return false;
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - began;
    steps_.add(took.count());
    if (is_stopping_) return false;
  }
  return true;
}

std::optional<WorldEnd> LiveDriver::find_end() const {
  if (session_.infeasible()) return WorldEnd::kInfeasible;
  if (session_.awaits_answer()) return std::nullopt;  // its plan may take effect at this instant
  const bool is_at_end = options_.until && session_.now() >= *options_.until;
  return session_.is_over() || is_at_end ? std::optional(WorldEnd::kReached) : std::nullopt;
}

void LiveDriver::record_if_due() {
  if (!options_.record || Clock::now() - recorded_at_ < kRecordsEvery) return;
  recorded_at_ = Clock::now();
  options_.record();
  told_event_ = 0;  // recorded events may now be reported
}

/// A solution that cannot be recorded waits: its plan must not take effect before.
void LiveDriver::take_solution() {
  if (!answer_) answer_ = solver_.take_answer();
  if (!answer_ || Clock::now() < answer_again_at_) return;
  if (session_.answer(*answer_)) {
    answer_.reset();
  } else {
    answer_again_at_ = Clock::now() + kRecordsEvery;
  }
}

void LiveDriver::serve_outside() {
  if (options_.serve_outside && !session_.is_over() && !session_.awaits_answer()) options_.serve_outside();
}

Instant LiveDriver::due_until() {
  const Instant until = options_.until.value_or(Instant::never());
  if (options_.clock != nullptr) {
    const RealTimeClock::Look look = options_.clock->look(session_.now());
    from_ = look.until;
    began_ = Clock::now();
    if (look.is_jump) session_.skip_to(std::min(until, look.until));
    return std::min(until, look.until);
  }
  if (options_.speed <= 0) return until;
  const std::chrono::duration<double, std::micro> passed = Clock::now() - began_;
  return std::min(until, from_ + Micros(static_cast<std::int64_t>(passed.count() * options_.speed)));
}

LiveDriver::Clock::time_point LiveDriver::wall_time_of(Instant at) const {
  if (options_.speed <= 0) return Clock::now();
  constexpr double kFarAwayUs = 1e15;  // still safe to add to a clock, at any speed
  const std::chrono::duration<double, std::micro> passed(
      std::min(kFarAwayUs, static_cast<double>((at - from_).count()) / options_.speed));
  return began_ + std::chrono::duration_cast<Clock::duration>(passed);
}

}  // namespace berth::edges
