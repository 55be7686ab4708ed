#include "edges/live_driver/solver_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges {

SolverThread::SolverThread() : thread_([this] { run(); }) {}

SolverThread::~SolverThread() {
  {
    const std::scoped_lock hold(lock_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SolverThread::ask(SolveRequest request) {
  {
    const std::scoped_lock hold(lock_);
    ENSURE(!question_ && !is_solving_ && !answer_);
    question_ = std::move(request);
  }
  changed_.notify_all();
}

std::optional<SolveFinished> SolverThread::take_answer() {
  const std::scoped_lock hold(lock_);
  return std::exchange(answer_, std::nullopt);
}

std::optional<SolveFinished> SolverThread::wait_for_answer(std::chrono::milliseconds at_most) {
  std::unique_lock hold(lock_);
  changed_.wait_for(hold, at_most, [this] { return answer_.has_value(); });
  return std::exchange(answer_, std::nullopt);
}

bool SolverThread::is_solving() const {
  const std::scoped_lock hold(lock_);
  return is_solving_ || question_.has_value();
}

double SolverThread::last_solve_ms() const {
  const std::scoped_lock hold(lock_);
  return last_ms_;
}

MetricHistogram SolverThread::solve_histogram() const {
  const std::scoped_lock hold(lock_);
  return solves_;
}

namespace {

/// A plan may take seconds, while the world and the API must continue: if processors are short, these come first. On
/// Linux each thread has its own niceness.
void yield_to_others() {
  constexpr int kNiceness = 5;
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness));
}

}  // namespace

void SolverThread::run() {
  yield_to_others();
  std::unique_lock hold(lock_);
  while (true) {
    changed_.wait(hold, [this] { return is_stopping_ || question_.has_value(); });
    if (is_stopping_) return;
    const SolveRequest request = *std::exchange(question_, std::nullopt);
    is_solving_ = true;
    hold.unlock();
    const auto began = std::chrono::steady_clock::now();
    auto solution = std::make_shared<const Solution>(request.solve());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    hold.lock();
    is_solving_ = false;
    last_ms_ = took.count();
    observe(solves_, std::chrono::duration<double>(took).count());
    answer_ = SolveFinished{.question = request.question, .solution = std::move(solution)};
    if (notify_) notify_();
    changed_.notify_all();
  }
}

}  // namespace berth::edges
