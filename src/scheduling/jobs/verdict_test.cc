#include "scheduling/jobs/verdict.h"

#include <gtest/gtest.h>

namespace berth::sched {
namespace {

PolicyFigures completing(Policy policy, double mean) { return {.policy = policy, .completion = {.mean = mean}}; }

TEST(ScheduleVerdict, NamesTheBestAndByHowMuch) {
  EXPECT_EQ(
      schedule_verdict(
          {completing(Policy::kFifo, 2'000), completing(Policy::kBerth, 1'000), completing(Policy::kSrpt, 800)}),
      "berth has the least mean completion: 1,000 s, 50.0 % less than fifo, the next; 25.0 % more than srpt, which "
      "knows the durations.");
  EXPECT_EQ(schedule_verdict({completing(Policy::kFifo, 2'000)}), "fifo: 2,000 s mean completion.");
  EXPECT_EQ(schedule_verdict({completing(Policy::kSrpt, 2'000)}), "srpt: 2,000 s mean completion, with hindsight.");
}

TEST(ScheduleVerdict, SaysWhereItIsWorse) {
  PolicyFigures berth = completing(Policy::kBerth, 1'000);
  berth.completion.p99 = 3'360;
  berth.rho_worst = 3.681;
  berth.preemptions = 3;
  PolicyFigures fifo = completing(Policy::kFifo, 2'000);
  fifo.completion.p99 = 3'100;
  fifo.rho_worst = 3.684;
  EXPECT_EQ(schedule_verdict({fifo, berth}),
            "berth has the least mean completion: 1,000 s, 50.0 % less than fifo, the next. Others have less p99 "
            "completion (fifo 3,100 s, berth 3,360 s), preemptions (fifo 0, berth 3).");
}

TEST(ScheduleVerdict, ADifferenceThatItCannotShowIsNone) {
  EXPECT_EQ(schedule_verdict({completing(Policy::kFifo, 283), completing(Policy::kSkip, 283.1),
                              completing(Policy::kLas, 400), completing(Policy::kSjf, 283)}),
            "fifo: 283 s mean completion; skip is as good; as good as sjf, which knows the durations.");
  EXPECT_EQ(schedule_verdict({completing(Policy::kFifo, 283), completing(Policy::kSkip, 283),
                              completing(Policy::kLas, 283), completing(Policy::kBerth, 283.05)}),
            "fifo: 283 s mean completion; skip and 2 others are as good.");
}

}  // namespace
}  // namespace berth::sched
