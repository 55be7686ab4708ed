#include "edges/model_server/detail/alarm.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace berth::edges::detail {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Alarm, RingsAtItsTimeAndNotBefore) {
  Alarm alarm;
  const auto at = Alarm::Clock::now() + milliseconds(20);
  alarm.set(at);
  alarm.wait();
  EXPECT_GE(Alarm::Clock::now(), at);
}

TEST(Alarm, RingsAtOnceForATimeThatHasPassed) {
  Alarm alarm;
  alarm.set(Alarm::Clock::now() - hours(1));
  alarm.wait();
  alarm.set(Alarm::Clock::time_point{});
  alarm.wait();
}

TEST(Alarm, HasRungBeforeTheWait) {
  Alarm alarm;
  alarm.set(Alarm::Clock::now());
  std::this_thread::sleep_for(milliseconds(5));
  alarm.wait();
}

TEST(Alarm, IsMovedForwardWhileAThreadWaits) {
  Alarm alarm;
  alarm.set(Alarm::Clock::now() + hours(1));
  std::thread waiter([&] { alarm.wait(); });
  alarm.set(Alarm::Clock::now() + milliseconds(1));
  waiter.join();
}

TEST(Alarm, IsMovedBack) {
  Alarm alarm;
  const auto at = Alarm::Clock::now() + milliseconds(30);
  alarm.set(Alarm::Clock::now() + milliseconds(10));
  alarm.set(at);
  alarm.wait();
  EXPECT_GE(Alarm::Clock::now(), at);
}

}  // namespace
}  // namespace berth::edges::detail
