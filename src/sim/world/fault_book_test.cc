#include "sim/world/fault_book.h"

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

FaultOrder order_of(FaultKind kind, std::vector<GpuId> gpus, std::optional<std::int64_t> times = 1) {
  FaultOrder order;
  order.kind = kind;
  order.gpus = std::move(gpus);
  order.times = times;
  return order;
}

TEST(FaultBook, AFaultIsUsedUpByTheActionsOfEachOfItsGpus) {
  FaultBook book;
  book.add(book.next_id(), order_of(FaultKind::kFailCreate, {{0}, {1}}, 2), Instant(5));
  EXPECT_EQ(book.end_action({2}, ActionKind::kCreation), ActionOutcome::kDone);
  EXPECT_EQ(book.end_action({0}, ActionKind::kDestruction), ActionOutcome::kDone);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(book.end_action({0}, ActionKind::kCreation), ActionOutcome::kFailed);
  EXPECT_EQ(book.end_action({0}, ActionKind::kCreation), ActionOutcome::kDone);
  ASSERT_EQ(book.waiting().size(), 1U);
  EXPECT_EQ(book.waiting()[0].left, (std::map<GpuId, std::int64_t>{{{1}, 2}}));
  EXPECT_EQ(book.waiting()[0].since, Instant(5));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(book.end_action({1}, ActionKind::kCreation), ActionOutcome::kFailed);
  EXPECT_TRUE(book.is_empty());
}

TEST(FaultBook, TheOldestFaultThatFitsCounts) {
  FaultBook book;
  book.add(book.next_id(), order_of(FaultKind::kFailDestroy, {{0}}), Instant());
  book.add(book.next_id(), order_of(FaultKind::kReportsFailure, {{0}}), Instant());
  book.add(book.next_id(), order_of(FaultKind::kFailCreate, {{0}}), Instant());
  EXPECT_EQ(book.end_action({0}, ActionKind::kCreation), ActionOutcome::kDoneButReportedFailed);
  EXPECT_EQ(book.end_action({0}, ActionKind::kCreation), ActionOutcome::kFailed);
  EXPECT_EQ(book.end_action({0}, ActionKind::kDestruction), ActionOutcome::kFailed);
  EXPECT_TRUE(book.is_empty());
}

TEST(FaultBook, SlowHoldsUntilItIsClearedOrUsedUp) {
  FaultBook book;
  FaultOrder slow = order_of(FaultKind::kSlow, {{0}, {1}}, std::nullopt);
  slow.duration = Micros::seconds(9);
  book.add(book.next_id(), slow, Instant());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(book.begin_action({0}), Micros::seconds(9));
  EXPECT_EQ(book.end_action({0}, ActionKind::kCreation), ActionOutcome::kDone);
  book.clear(order_of(FaultKind::kClear, {{0}}));
  EXPECT_EQ(book.begin_action({0}), std::nullopt);
  EXPECT_EQ(book.begin_action({1}), Micros::seconds(9));
  book.clear(order_of(FaultKind::kClear, {{1}}));
  EXPECT_TRUE(book.is_empty());
  EXPECT_FALSE(book.take_is_used()) << "without a number of times nothing is counted";
  slow.times = 1;
  book.add(book.next_id(), slow, Instant());
  EXPECT_EQ(book.begin_action({0}), Micros::seconds(9));
  EXPECT_TRUE(book.take_is_used());
  EXPECT_EQ(book.begin_action({0}), std::nullopt);
  EXPECT_FALSE(book.take_is_used());
}

TEST(FaultBook, ALostGpuForgetsSlicesOfOthersOnly) {
  FaultBook book;
  book.add(book.next_id(), order_of(FaultKind::kForeignSlice, {{0}, {1}}), Instant());
  book.add(book.next_id(), order_of(FaultKind::kFailCreate, {{0}}), Instant());
  book.forget_foreign({0});
  ASSERT_EQ(book.waiting().size(), 2U);
  EXPECT_EQ(book.waiting()[0].left.size(), 1U);
  book.forget_foreign({1});
  ASSERT_EQ(book.waiting().size(), 1U);
  EXPECT_EQ(book.waiting()[0].order.kind, FaultKind::kFailCreate);
}

TEST(FaultBook, NumbersAreNeverUsedAgain) {
  FaultBook book;
  EXPECT_EQ(book.next_id(), 1U);
  book.add(book.next_id(), order_of(FaultKind::kFailCreate, {{0}}), Instant());
  book.clear(order_of(FaultKind::kClear, {{0}}));
  EXPECT_EQ(book.next_id(), 3U);
}

}  // namespace
}  // namespace berth::sim
