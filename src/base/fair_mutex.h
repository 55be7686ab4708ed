/// A mutex that threads get in the order in which they asked for it: one that takes it again and again, as whoever drives
/// a world does, leaves the others no worse off than one turn each. std::mutex promises no such thing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace berth {

/// For std::scoped_lock and std::unique_lock. Not recursive.
class FairMutex {
 public:
  void lock() {
    std::unique_lock hold(lock_);
    const std::uint64_t ticket = next_++;
    changed_.wait(hold, [&] { return serving_ == ticket; });
  }
  void unlock() {
    bool is_awaited = false;
    {
      const std::scoped_lock hold(lock_);
      is_awaited = ++serving_ != next_;
    }
    if (is_awaited) changed_.notify_all();
  }
  /// Threads that hold it or wait for it.
  [[nodiscard]] std::uint64_t users() const {
    const std::scoped_lock hold(lock_);
    return next_ - serving_;
  }

 private:
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;
};

}  // namespace berth
