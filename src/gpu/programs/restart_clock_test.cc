#include "gpu/programs/restart_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::programs {
namespace {

TEST(RestartClock, PausesDoubleUpToAMinute) {
  RestartClock clock;
  std::vector<std::int64_t> pauses;
  Instant now = Instant::at_second(1000);
  for (int i = 0; i < 9; ++i) {
    const Instant next = clock.failed(now);
    pauses.push_back((next - now).count() / kMicrosPerSecond);
    now = next;
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 60, 60, 60}));
}

TEST(RestartClock, AMinuteOfReadinessBeginsAnew) {
  RestartClock clock;
  const Instant begin = Instant::at_second(0);
  static_cast<void>(clock.failed(begin));
  static_cast<void>(clock.failed(begin));
  clock.became_ready(begin);
  EXPECT_EQ(clock.failed(begin + Micros::seconds(59)), begin + Micros::seconds(59 + 4)) << "one second too early";
  clock.became_ready(begin + Micros::seconds(100));
  EXPECT_EQ(clock.failed(begin + Micros::seconds(160)), begin + Micros::seconds(161));
  EXPECT_EQ(clock.failed(begin + Micros::seconds(400)), begin + Micros::seconds(402)) << "it was not ready since";
}

TEST(RestartClock, TenFailuresInTenMinutesAreALoop) {
  RestartClock clock;
  for (int i = 0; i < 9; ++i) static_cast<void>(clock.failed(Instant::at_second(i * 60)));
  EXPECT_FALSE(clock.is_looping(Instant::at_second(540)));
  static_cast<void>(clock.failed(Instant::at_second(599)));
  EXPECT_TRUE(clock.is_looping(Instant::at_second(599)));
  EXPECT_EQ(clock.failures(Instant::at_second(599)), 10);
  EXPECT_FALSE(clock.is_looping(Instant::at_second(600))) << "the first one was ten minutes ago";
  EXPECT_EQ(clock.failures(Instant::at_second(2000)), 0);
}

TEST(RestartClock, GoesOnAfterARestart) {
  RestartClock before;
  for (int i = 0; i < 3; ++i) static_cast<void>(before.failed(Instant::at_second(100 + i)));
  RestartClock after;
  const std::vector<Instant> failures(before.failure_times().begin(), before.failure_times().end());
  after.restore(failures, before.pause(), Instant::at_second(110));
  EXPECT_EQ(after.failures(Instant::at_second(110)), 3);
  EXPECT_EQ(after.failed(Instant::at_second(110)), Instant::at_second(118));
  after.restore({Instant::at_second(5), Instant::at_second(3), Instant::at_second(99)}, Micros::seconds(-1),
                Instant::at_second(50));
  EXPECT_EQ(after.failures(Instant::at_second(50)), 1) << "of a damaged record only what can be true";
  EXPECT_EQ(after.failed(Instant::at_second(50)), Instant::at_second(51));
}

}  // namespace
}  // namespace berth::programs
