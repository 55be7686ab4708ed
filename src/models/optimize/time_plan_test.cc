#include "models/optimize/time_plan.h"

#include <gtest/gtest.h>

namespace berth::models {
namespace {

TEST(TimePlan, SharesTheTimeByWeight) {
  // 100 s, 35 of them for two variants.
  TimePlan plan(Instant::at_second(10), Micros::seconds(100), 2, 3);
  EXPECT_EQ(plan.begin_search(Instant::at_second(10), 2) - Instant::at_second(10), Micros(43'333'332));
  EXPECT_EQ(plan.begin_measuring(), Micros(17'500'000));
  // The first took 20 s with its measurement: 80 s are left, less 17.5 for the other.
  EXPECT_EQ(plan.begin_search(Instant::at_second(30), 1) - Instant::at_second(30), Micros(62'500'000));
}

TEST(TimePlan, SaysThatThereIsNoTime) {
  TimePlan plan(Instant::at_second(0), Micros::seconds(10), 1, 1);
  EXPECT_LE(plan.begin_search(Instant::at_second(9), 1), Instant::at_second(9));
  EXPECT_FALSE(plan.is_over(Instant::at_second(9)));
  EXPECT_TRUE(plan.is_over(Instant::at_second(10)));
  EXPECT_EQ(plan.begin_measuring(), Micros(3'500'000));
}

TEST(TimePlan, ExpectsOfLaterVariantsWhatOneTook) {
  TimePlan plan(Instant::at_second(0), Micros::seconds(100), 2, 2);
  EXPECT_EQ(plan.begin_measuring(), Micros(17'500'000));
  plan.note_measured(Micros::seconds(60));
  EXPECT_LE(plan.begin_search(Instant::at_second(60), 1), Instant::at_second(60)) << "measuring would end too late";
  EXPECT_EQ(plan.begin_measuring(), Micros(17'500'000)) << "what a variant may take is as before";
}

TEST(TimePlan, PlansFewerVariantsWhereNotAllFit) {
  TimePlan plan(Instant::at_second(0), Micros::seconds(100), 4, 4);
  plan.note_measured(Micros::seconds(20));
  // Half of the 60 s that are left measure one of four.
  EXPECT_EQ(plan.begin_search(Instant::at_second(40), 2), Instant::at_second(60));
  EXPECT_LE(plan.begin_search(Instant::at_second(85), 1), Instant::at_second(85));
}

TEST(TimePlan, GivesWhatIsDroppedToOthers) {
  TimePlan plan(Instant::at_second(0), Micros::seconds(100), 2, 3);
  plan.drop_search(2);
  plan.drop_variant();
  EXPECT_EQ(plan.begin_search(Instant::at_second(0), 1), Instant(82'500'000));
}

TEST(TimePlan, MeasuresALittleInAnyCase) {
  TimePlan plan(Instant::at_second(0), Micros::seconds(1), 7, 0);
  EXPECT_EQ(plan.begin_measuring(), TimePlan::kMeasureMin);
}

}  // namespace
}  // namespace berth::models
