#include "base/locks/fair_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace berth::edges {
namespace {

TEST(FairMutex, ComesToThreadsInTheOrderInWhichTheyAsk) {
  constexpr int kThreads = 8;
  FairMutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  mutex.lock();
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&mutex, &order, i] {
      const std::scoped_lock hold(mutex);
      order.push_back(i);
    });
    while (mutex.users() < static_cast<std::uint64_t>(i) + 2) std::this_thread::yield();
  }
  mutex.unlock();
  mutex.lock();  // after all of them
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  mutex.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mutex.users(), 0U);
}

}  // namespace
}  // namespace berth::edges
