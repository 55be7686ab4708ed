#include "serving/dispatch/arrival_feedback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/core/rng.h"

namespace berth::serving {
namespace {

Request feedback_request(std::int64_t number, std::int64_t at_us) {
  return {.number = number, .arrival = Instant(at_us), .target = Micros::seconds(1)};
}

/// A batch of one request that arrives when it starts, and `joining` rows while it runs for 10 ms.
void run_batch(ArrivalFeedback& feedback, std::int64_t at_us, RowCount joining, double rows_per_second) {
  const std::vector requests = {feedback_request(at_us, at_us)};
  feedback.learn_arrival(1);
  feedback.learn_start(requests, Instant(at_us));
  if (joining > 0) feedback.learn_arrival(joining);
  feedback.learn_end(Instant(at_us + 10'000), rows_per_second);
}

TEST(ArrivalFeedback, ShrinksWhileNothingArrivesWithoutAnswers) {
  ArrivalFeedback feedback;
  EXPECT_EQ(feedback.share(), 1);
  for (int i = 0; i < 10; ++i) run_batch(feedback, i * 10'000, 0, 100);
  EXPECT_LT(feedback.share(), 0.6);
  for (int i = 10; i < 1000; ++i) run_batch(feedback, i * 10'000, 0, 100);
  EXPECT_EQ(feedback.share(), ArrivalFeedback::kShareMin);
}

TEST(ArrivalFeedback, GrowsAgainOnceRowsArriveWithoutAnswers) {
  ArrivalFeedback feedback;
  for (int i = 0; i < 1000; ++i) run_batch(feedback, i * 10'000, 0, 100);
  for (int i = 1000; i < 2000; ++i) run_batch(feedback, i * 10'000, 1, 100);
  EXPECT_EQ(feedback.share(), 1);
}

TEST(ArrivalFeedback, StaysNearOneWithPoissonArrivals) {
  ArrivalFeedback feedback;
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    run_batch(feedback, i * 10'000, static_cast<RowCount>(rng.poisson(1)), 100);
    sum += feedback.share();
  }
  EXPECT_GT(sum / 10'000, 0.75);
}

TEST(ArrivalFeedback, OnlyTheLaterHalfOfAHoldCounts) {
  ArrivalFeedback early;
  ArrivalFeedback late;
  for (auto* feedback : {&early, &late}) {
    const std::int64_t joined_us = feedback == &early ? 9000 : 11'000;
    const std::vector requests = {feedback_request(0, 0), feedback_request(1, joined_us)};
    feedback->learn_arrival(1);
    feedback->learn_hold(requests[0], Instant(0), Instant(20'000));
    feedback->learn_arrival(1);
    feedback->learn_hold(requests[0], Instant(joined_us), Instant(16'000));  // changes nothing
    feedback->learn_start(requests, Instant(16'000));
    feedback->learn_end(Instant(20'000), 50);  // half a row in 10 ms
  }
  EXPECT_LT(early.share(), 1);
  EXPECT_EQ(late.share(), 1);
}

TEST(ArrivalFeedback, AHoldOfOtherRequestsIsForgotten) {
  ArrivalFeedback feedback;
  feedback.learn_hold(feedback_request(0, 0), Instant(0), Instant(20'000));
  run_batch(feedback, 10'000'000, 1, 100);  // without the ten seconds before
  EXPECT_EQ(feedback.share(), 1);
}

TEST(ArrivalFeedback, AnAnswerOnAnyLaneEndsTheSilence) {
  ArrivalFeedback feedback;
  feedback.learn_arrival(2);
  feedback.learn_start(std::vector{feedback_request(0, 0)}, Instant(0));
  feedback.learn_start(std::vector{feedback_request(1, 0)}, Instant(5000));
  feedback.learn_arrival(1);
  feedback.learn_end(Instant(10'000), 100);
  const double share = feedback.share();
  feedback.learn_end(Instant(15'000), 100);
  EXPECT_EQ(feedback.share(), share);
}

}  // namespace
}  // namespace berth::serving
