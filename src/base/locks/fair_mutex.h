/// A mutex granted in the order of requests: a thread that locks it again and again, as the driver of a world does,
/// delays each other thread by at most one turn. std::mutex gives no such guarantee.
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
  /// The number of threads that hold it or wait for it.
  [[nodiscard]] std::uint64_t users() const;

 private:
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t serving_ = 0;
};

}  // namespace berth::edges
