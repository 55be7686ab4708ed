#include "edges/onnx_probe/detail/stop_watch.h"

#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::detail {
namespace {

constexpr std::chrono::milliseconds kPause{20};

void terminate(Ort::RunOptions& options) {
  Ort::Status(Ort::GetApi().RunOptionsSetTerminate(options));  // sets a flag, which does not fail
}

}  // namespace

StopWatch::StopWatch(std::function<bool()> is_stopped, std::optional<std::chrono::steady_clock::time_point> deadline)
    : is_stopped_(std::move(is_stopped)), deadline_(deadline) {
  if (is_stopped_ || deadline_) thread_ = std::thread([this] { watch(); });
}

StopWatch::~StopWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock hold(lock_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool StopWatch::is_time() const {
  return (is_stopped_ && is_stopped_()) || (deadline_ && std::chrono::steady_clock::now() >= *deadline_);
}

void StopWatch::watch() {
  while (!is_time()) {
    std::unique_lock hold(lock_);
    if (changed_.wait_for(hold, kPause, [this] { return is_ending_; })) return;
  }
  const std::scoped_lock hold(lock_);
  is_over_ = true;
  if (running_ != nullptr) terminate(*running_);
}

StopWatch::Scope::Scope(StopWatch& watch, Ort::RunOptions& options) : watch_(watch) {
  const std::scoped_lock hold(watch_.lock_);
  ENSURE(watch_.running_ == nullptr);
  watch_.running_ = &options;
  if (watch_.is_over_) terminate(options);
}

StopWatch::Scope::~Scope() {
  const std::scoped_lock hold(watch_.lock_);
  watch_.running_ = nullptr;
}

}  // namespace berth::edges::detail
