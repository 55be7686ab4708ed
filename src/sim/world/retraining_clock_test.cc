#include "sim/world/retraining_clock.h"

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

constexpr world::SliceIndex kFirst{0};
constexpr world::SliceIndex kSecond{1};
const Slice kFirstPlace{.gpu = {0}, .start = 0, .profile = {0}};
const Slice kSecondPlace{.gpu = {0}, .start = 4, .profile = {0}};

Instant at(std::int64_t second) { return Instant::at_second(second); }

/// Due at 10, 110, 210, ..; swap 5 s.
Retraining every_100(bool keeps_unfinished = false) {
  Retraining spec;
  spec.every = Micros::seconds(100);
  spec.offset = Micros::seconds(10);
  spec.swap = Micros::seconds(5);
  spec.keeps_unfinished = keeps_unfinished;
  return spec;
}

/// Ticks until its next time is after `until`; returns the events as letters: d(ue), D(one), s(topped), S(tarted).
std::string run_to(RetrainingClock& clock, Instant until) {
  std::string reported;
  while (clock.next_time() <= until) {
    const Instant now = clock.next_time();
    const RetrainingNews news = clock.tick(now);
    reported += std::to_string(now.micros() / kMicrosPerSecond) + (news.became_due ? "d" : "") +
                (news.stopped ? "s" : "") + (news.became_done ? "D" : "") + (news.started ? "S" : "") +
                (clock.is_stale() ? "- " : "+ ");
  }
  return reported;
}

TEST(RetrainingClock, GoesFromDueToSwapped) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  EXPECT_FALSE(clock.is_stale());
  EXPECT_FALSE(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(30), at(0)).started.has_value());
  EXPECT_EQ(run_to(clock, at(120)), "10dS- 40sD- 45+ 110dS- ");
}

TEST(RetrainingClock, BeforeTheFirstDueTimeAndAfterTheEndNothingHappens) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(210));
  EXPECT_EQ(clock.next_time(), at(10));
  EXPECT_EQ(run_to(clock, at(10'000)), "10d- 110d- 210d- ");  // without a slice it stays stale
  EXPECT_EQ(clock.next_time(), Instant::never());
}

TEST(RetrainingClock, TheNextDueTimeAbandonsWhatRuns) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(100), at(0)));
  // It would be done at the instant when the next is due: lost.
  EXPECT_EQ(run_to(clock, at(220)), "10dS- 110dsS- 210dsS- ");
}

TEST(RetrainingClock, OrItGoesOnAndServesTheNewestDueTime) {
  const Retraining spec = every_100(true);
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(150), at(0)));
  EXPECT_EQ(run_to(clock, at(200)), "10dS- 110d- 160sD- 165+ ");
}

TEST(RetrainingClock, DueAndDoneAtOneInstant) {
  const Retraining spec = every_100(true);
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(100), at(0)));
  // First due, then done: it is done for the newest due time.
  EXPECT_EQ(run_to(clock, at(130)), "10dS- 110dsD- 115+ ");
}

TEST(RetrainingClock, ADueTimeVoidsAPendingSwap) {
  Retraining spec = every_100();
  spec.swap = Micros::seconds(70);
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(30), at(0)));
  // Done at 40, the swap would be at 110, where the next is due.
  EXPECT_EQ(run_to(clock, at(120)), "10dS- 40sD- 110dS- ");
}

TEST(RetrainingClock, MovingKeepsProgress) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(60), at(0)));
  EXPECT_EQ(run_to(clock, at(10)), "10dS- ");
  const RetrainingNews stopped = clock.remove_slice(kFirstPlace, kFirst, at(30));  // a third is done
  EXPECT_EQ(stopped.stopped, kFirst);
  EXPECT_FALSE(stopped.started.has_value());
  EXPECT_EQ(clock.next_time(), at(110));
  const RetrainingNews moved = clock.add_slice(kSecondPlace, kSecond, Micros::seconds(30), at(50));
  EXPECT_EQ(moved.started, kSecond);
  EXPECT_EQ(clock.next_time(), at(70));  // 2/3 of 30 s
}

TEST(RetrainingClock, AbandonedProgressIsGoneEvenWhileNothingRuns) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(60), at(0)));
  EXPECT_EQ(run_to(clock, at(10)), "10dS- ");
  static_cast<void>(clock.remove_slice(kFirstPlace, kFirst, at(40)));
  EXPECT_EQ(run_to(clock, at(110)), "110d- ");
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(60), at(120)));
  EXPECT_EQ(clock.next_time(), at(180));
}

TEST(RetrainingClock, RunsOnTheFirstOfItsSlicesAndGoesOnWithTheNext) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kSecondPlace, kSecond, Micros::seconds(30), at(0)));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros::seconds(60), at(1)));
  EXPECT_EQ(clock.tick(at(10)).started, kFirst);
  const RetrainingNews news = clock.remove_slice(kFirstPlace, kFirst, at(40));
  EXPECT_EQ(news.stopped, kFirst);
  EXPECT_EQ(news.started, kSecond);
  EXPECT_EQ(clock.next_time(), at(55));
}

TEST(RetrainingClock, ASliceWhereItCannotRunDoesNothing) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, std::nullopt, at(0)));
  EXPECT_EQ(run_to(clock, at(10)), "10d- ");
  EXPECT_FALSE(clock.remove_slice(kFirstPlace, kFirst, at(20)).stopped.has_value());
}

TEST(RetrainingClock, PartsOfAMicrosecondRoundHalfUp) {
  const Retraining spec = every_100();
  RetrainingClock clock(spec, at(1000));
  static_cast<void>(clock.add_slice(kFirstPlace, kFirst, Micros(3), at(0)));
  static_cast<void>(clock.tick(at(10)));
  static_cast<void>(clock.remove_slice(kFirstPlace, kFirst, at(10) + Micros(1)));
  static_cast<void>(clock.add_slice(kSecondPlace, kSecond, Micros(10), at(20)));
  EXPECT_EQ(clock.next_time(), at(20) + Micros(7));  // 2/3 of 10
}

}  // namespace
}  // namespace berth::sim
