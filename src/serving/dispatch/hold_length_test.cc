#include "serving/dispatch/hold_length.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

TEST(HoldLength, IsAShareOfTheRoomBeforeTheDeadline) {
  const HoldLength hold;
  EXPECT_EQ(hold.of({.target = Micros(30'000), .with_one_more = Micros(10'000)}), Micros(5000));
  EXPECT_EQ(hold.of({.target = Micros(30'000), .with_one_more = Micros(10'000), .worth = 0.1}), Micros(500));
  EXPECT_EQ(hold.of({.target = Micros(5000), .with_one_more = Micros(10'000)}), Micros(0));
}

TEST(HoldLength, IsBoundedByTheTimeOfARow) {
  const HoldLength hold;
  const Micros target = Micros::seconds(30);
  EXPECT_EQ(hold.of({.target = target, .with_one_more = Micros(10'000)}), Micros(30'000));
  EXPECT_EQ(hold.of({.target = target, .with_one_more = Micros(20'000), .rows = 20}), Micros(3000));
}

TEST(HoldLength, GrowsInTimeAndShrinksWithAMiss) {
  const HeldBatch batch = {.target = Micros(110'000), .with_one_more = Micros(10'000), .rows = 1};
  HoldLength hold;
  for (int i = 0; i < 100'000; ++i) hold.learn_in_time();
  EXPECT_GT(hold.of(batch), Micros(59'000));
  for (int i = 0; i < 20; ++i) hold.learn_miss();
  EXPECT_EQ(hold.of(batch), Micros(0));
}

}  // namespace
}  // namespace berth::serving
