/// A mutex that threads get in the order in which they asked for it: one that takes it again and again, as the
/// driver of a world does, costs the others one turn at most. std::mutex promises no such thing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace berth::edges {

/// For std::scoped_lock and std::unique_lock. Not recursive.
class FairMutex {
 public:
  void lock();
  void unlock();
  /// Threads that hold it or wait for it.
  [[nodiscard]] std::uint64_t users() const;

 private:
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;
};

}  // namespace berth::edges
