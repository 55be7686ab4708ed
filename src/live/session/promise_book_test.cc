#include "live/session/promise_book.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::slice_at;

constexpr std::int64_t kBegan = 100;
constexpr std::uint64_t kNumber = 7;

/// A slice of 10 requests per second that should work from slot 4 of 20 on, and in a tail of 8 s: 15 per second arrive.
Promise promise_on(std::uint32_t gpu) {
  return {
      .gpu = {gpu},
      .slots = 20,
      .tail_seconds = 8,
      .gain = 240,
      .price = 0,
      .pieces =
          {{.slice = slice_at(gpu, "3g.40gb", 0), .service = {0}, .variant = 0, .rate = 10, .ready = 4, .until = 21}},
      .services = {{.service = {0},
                    .value = 1,
                    .accuracy_before = {1},
                    .accuracy_after = {1},
                    .retraining = std::nullopt,
                    .with_changes = {{.slot = 0, .rates = {5}}, {.slot = 4, .rates = {15}}},
                    .without_changes = {{.slot = 0, .rates = {5}}}}}};
}

Plan plan_on(std::uint32_t gpu) {
  Plan plan;
  plan.id = 3;
  const AssignSlice assign{.holding = {.slice = slice_at(gpu, "3g.40gb", 0), .services = {{0}}}, .point = std::nullopt};
  plan.actions = {{.what = assign, .reason = {}, .number = kNumber}};
  return plan;
}

class PromiseBookTest : public ::testing::Test {
 protected:
  void begin(std::uint32_t gpu = 0, std::int64_t second = kBegan) {
    book_.begin(plan_on(gpu), {promise_on(gpu)}, Instant::at_second(second));
  }
  void ready_at(Instant at, std::uint64_t number = kNumber, std::uint32_t gpu = 0) {
    book_.note({.at = at, .what = SliceReady{.slice = slice_at(gpu, "3g.40gb", 0), .assignment = number}});
  }
  /// Seconds [from, to) with that many requests each, each followed by a step.
  void run(std::int64_t from, std::int64_t to, std::int64_t arrivals = 15) {
    for (std::int64_t second = from; second < to; ++second) {
      const Instant at = Instant::at_second(second + 1);
      book_.note({.at = at, .what = ServiceSecond{.service = {0}, .second = second, .arrivals = arrivals}});
      book_.judge(at);
    }
  }

  PromiseBook book_;
};

TEST_F(PromiseBookTest, JudgesAChangeWhenItsWindowIsOver) {
  begin();
  ready_at(Instant::at_second(kBegan + 4));
  run(kBegan, kBegan + 27);
  EXPECT_EQ(book_.open().size(), 1U);
  run(kBegan + 27, kBegan + 28);
  ASSERT_EQ(book_.judged().size(), 1U);
  EXPECT_TRUE(book_.open().empty());
  EXPECT_EQ(book_.judged()[0], (JudgedPromise{.plan = 3,
                                              .gpu = {0},
                                              .began = Instant::at_second(kBegan),
                                              .judged_at = Instant::at_second(kBegan + 28),
                                              .promised = 240,
                                              .achieved = 240,
                                              .on_time = 240}));
}

TEST_F(PromiseBookTest, CountsTheRequestsThatCameAndTheSlicesThatWorked) {
  begin();
  ready_at(Instant(Instant::at_second(kBegan + 10).micros() + 499'999));  // slot 10: rounded
  run(kBegan, kBegan + 15);
  run(kBegan + 15, kBegan + 28, 7);
  ASSERT_EQ(book_.judged().size(), 1U);
  EXPECT_DOUBLE_EQ(book_.judged()[0].achieved, 10 * 5 + 2 * 5 + 2 * 8);
  EXPECT_DOUBLE_EQ(book_.judged()[0].on_time, 10 * 11 + 2 * 5 + 2 * 8);
}

TEST_F(PromiseBookTest, ASliceOfAnotherAssignmentIsNotThePromisedOne) {
  begin();
  ready_at(Instant::at_second(kBegan + 4), kNumber + 1);
  ready_at(Instant::at_second(kBegan + 4), kNumber, 1);
  run(kBegan, kBegan + 28);
  ASSERT_EQ(book_.judged().size(), 1U);
  EXPECT_DOUBLE_EQ(book_.judged()[0].achieved, 0);
}

TEST_F(PromiseBookTest, WaitsForRequestsThatAreNotKnownYet) {
  begin();
  run(kBegan, kBegan + 20);
  book_.judge(Instant::at_second(kBegan + 60));
  EXPECT_EQ(book_.open().size(), 1U);
  run(kBegan + 20, kBegan + 28);
  EXPECT_TRUE(book_.open().empty());
}

TEST_F(PromiseBookTest, AChangeOfAServiceThatIsSetAnewIsVoid) {
  ServiceSet set;
  set.service = {0};
  for (const bool is_removed : {false, true}) {
    book_ = {};
    begin();
    if (is_removed) book_.note({.at = Instant::at_second(kBegan + 3), .what = ServiceRemoved{{0}}});
    if (!is_removed) book_.note({.at = Instant::at_second(kBegan + 3), .what = set});
    book_.judge(Instant::at_second(kBegan + 28));
    ASSERT_EQ(book_.judged().size(), 1U);
    EXPECT_NE(book_.judged()[0].void_because, "");
    EXPECT_EQ(book_.sums(Instant::at_second(kBegan + 28), Micros::seconds(3'600)), PromiseSums());
  }
}

TEST_F(PromiseBookTest, AChangeThatDoesNotBeginPromisesNothing) {
  book_.begin(plan_on(1), {promise_on(0)}, Instant::at_second(kBegan));
  EXPECT_TRUE(book_.open().empty());
}

TEST_F(PromiseBookTest, AProposalPromisesWhenItIsApproved) {
  book_.hold(3, {promise_on(0)});
  book_.end_held(Plan(), Instant::at_second(kBegan));
  EXPECT_TRUE(book_.open().empty());
  book_.hold(3, {promise_on(0)});
  book_.end_held(plan_on(0), Instant::at_second(kBegan));
  EXPECT_EQ(book_.open().size(), 1U);
}

TEST_F(PromiseBookTest, SumsTheLastHourAndDay) {
  begin(0, 100);
  run(100, 128);
  begin(0, 10'000);
  ready_at(Instant::at_second(10'004));
  run(10'000, 10'028);
  const Instant now = Instant::at_second(10'060);
  EXPECT_EQ(book_.sums(now, Micros::seconds(3'600)), (PromiseSums{.changes = 1, .promised = 240, .achieved = 240}));
  EXPECT_EQ(book_.sums(now, Micros::seconds(86'400)), (PromiseSums{.changes = 2, .promised = 480, .achieved = 240}));
}

/// That many changes that are `seconds` late, one after the other; with a price they change a GPU's partition.
std::int64_t late_changes(PromiseBook& book, std::int64_t from, int count, std::int64_t seconds, double price = 0) {
  for (int i = 0; i < count; ++i, from += 30) {
    Promise promise = promise_on(0);
    promise.price = price;
    book.begin(plan_on(0), {promise}, Instant::at_second(from));
    book.note({.at = Instant::at_second(from + 4 + seconds),
               .what = SliceReady{.slice = slice_at(0, "3g.40gb", 0), .assignment = kNumber}});
    for (std::int64_t second = from; second < from + 28; ++second) {
      book.note({.at = Instant::at_second(second + 1),
                 .what = ServiceSecond{.service = {0}, .second = second, .arrivals = 15}});
    }
    book.judge(Instant::at_second(from + 28));
  }
  return from;
}

TEST_F(PromiseBookTest, FailsWhereManyChangesGainTooLittle) {
  const int enough = static_cast<int>(kPromisedChangesMin);
  std::int64_t now = late_changes(book_, 0, enough - 1, 25);
  EXPECT_FALSE(book_.have_failed(Instant::at_second(now)));
  now = late_changes(book_, now, 1, 25);
  EXPECT_TRUE(book_.have_failed(Instant::at_second(now)));
  // Planning is resumed: earlier changes, and those that began earlier, no longer count.
  begin(0, now);
  book_.note({.at = Instant::at_second(now + 1), .what = PlanningResumed()});
  EXPECT_FALSE(book_.have_failed(Instant::at_second(now + 1)));
  run(now, now + 28);
  EXPECT_EQ(book_.counted(Instant::at_second(now + 28)), PromiseSums());
}

TEST_F(PromiseBookTest, FailsWhereNewSlicesAreLate) {
  // 3 s late: an eighth of the gain is lost.
  const std::int64_t now = late_changes(book_, 0, 60, 3, 1e-9);
  const PromiseSums sums = book_.counted(Instant::at_second(now));
  EXPECT_EQ(sums.cuts, 60);
  EXPECT_NEAR(sums.lost_to_delay / sums.cuts_promised, 0.125, 1e-6);
  EXPECT_GT(sums.achieved, 0.8 * sums.promised);
  EXPECT_TRUE(book_.have_failed(Instant::at_second(now)));
}

TEST_F(PromiseBookTest, DoesNotFailWhereChangesGainWhatTheyPromised) {
  const std::int64_t now = late_changes(book_, 0, 60, 1);
  EXPECT_FALSE(book_.have_failed(Instant::at_second(now)));
  EXPECT_EQ(book_.counted(Instant::at_second(now)).changes, 60);
  EXPECT_EQ(book_.counted(Instant::at_second(now) + kPromiseSpan + Micros::seconds(60)), PromiseSums());
}

TEST_F(PromiseBookTest, WhatWasNotObservedIsNotJudged) {
  begin();
  ready_at(Instant::at_second(kBegan + 4));
  run(kBegan, kBegan + 10);
  book_.skip_to(Instant::at_second(kBegan + 100'000'000));
  EXPECT_TRUE(book_.open().empty());
  ASSERT_EQ(book_.judged().size(), 1U);
  EXPECT_EQ(book_.judged()[0].void_because, "it was not observed to its end");
  EXPECT_EQ(book_.sums(Instant::at_second(kBegan + 100'000'000), kPromiseSpan), PromiseSums());
  const std::int64_t now = kBegan + 100'000'000;
  begin(0, now);
  ready_at(Instant::at_second(now + 4));
  run(now, now + 28);
  ASSERT_EQ(book_.judged().size(), 2U);
  EXPECT_DOUBLE_EQ(book_.judged()[1].achieved, 240) << "later ones are";
}

TEST_F(PromiseBookTest, GoesOnAfterItWasSaved) {
  begin();
  book_.hold(9, {promise_on(1)});
  run(kBegan, kBegan + 10);
  ArchiveWriter writer;
  writer(book_);
  PromiseBook restored;
  ArchiveReader reader(writer.bytes());
  reader(restored);
  ASSERT_TRUE(reader.is_at_end());
  std::swap(book_, restored);
  ready_at(Instant::at_second(kBegan + 4));
  run(kBegan + 10, kBegan + 28);
  ASSERT_EQ(book_.judged().size(), 1U);
  EXPECT_DOUBLE_EQ(book_.judged()[0].achieved, 240);
}

}  // namespace
}  // namespace berth::live
