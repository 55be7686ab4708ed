#include "kube/client/pace.h"

#include <gtest/gtest.h>

#include "kube/client/back_off.h"

namespace berth::kube {
namespace {

TEST(Pace, ABurstIsFreeAndThenRequestsFollowAtTheirRate) {
  Pace pace(10, 3);
  const Instant start = Instant::at_second(100);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.reserve(start), start);
  EXPECT_EQ(pace.reserve(start), start + Micros(100'000));
  EXPECT_EQ(pace.reserve(start), start + Micros(200'000));
  // After a pause the burst is full again, and not more than full.
  const Instant later = Instant::at_second(200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pace.reserve(later), later);
  EXPECT_EQ(pace.reserve(later), later + Micros(100'000));
}

TEST(Pace, WhatIsNotTakenIsNotBooked) {
  Pace pace(10, 2);
  const Instant start = Instant::at_second(100);
  EXPECT_TRUE(pace.try_take(start));
  EXPECT_TRUE(pace.try_take(start));
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(pace.try_take(start));
  EXPECT_TRUE(pace.try_take(start + Micros(100'000)));
  EXPECT_FALSE(pace.try_take(start + Micros(100'000)));
}

TEST(BackOff, DoublesToItsLimitAndIsDrawnFromTheUpperHalf) {
  Rng rng(7);
  BackOff back_off(Micros(100), Micros(1'000));
  for (const std::int64_t whole : {100, 200, 400, 800, 1'000, 1'000}) {
    const Micros wait = back_off.next(rng);
    EXPECT_GE(wait, Micros(whole / 2));
    EXPECT_LE(wait, Micros(whole));
  }
  back_off.reset();
  EXPECT_LE(back_off.next(rng), Micros(100));
  Rng one(1);
  Rng two(2);
  BackOff a;
  BackOff b;
  EXPECT_NE(a.next(one), b.next(two));
}

}  // namespace
}  // namespace berth::kube
