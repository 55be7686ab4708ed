#include "base/locks/fair_mutex.h"

namespace berth::edges {

void FairMutex::lock() {
  std::unique_lock hold(lock_);
  const std::uint64_t ticket = next_++;
  changed_.wait(hold, [&] { return serving_ == ticket; });
}

void FairMutex::unlock() {
  bool is_awaited = false;
  {
    const std::scoped_lock hold(lock_);
    is_awaited = ++serving_ != next_;
  }
  if (is_awaited) changed_.notify_all();
}

std::uint64_t FairMutex::users() const {
  const std::scoped_lock hold(lock_);
  return next_ - serving_;
}

}  // namespace berth::edges
