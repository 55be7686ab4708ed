#include "serving/dispatch/model_demand.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

TEST(ModelDemand, RemembersRareRequests) {
  ModelDemand rare;
  ModelDemand frequent;
  for (int i = 0; i < 40; ++i) frequent.learn_arrival(Instant::at_second(i * 10), 1);
  for (int i = 0; i < 4; ++i) rare.learn_arrival(Instant::at_second(i * 100), 1);
  const Instant now = Instant::at_second(400);
  EXPECT_NEAR(frequent.requests_per_second(now), 0.1, 0.01);
  EXPECT_NEAR(rare.requests_per_second(now), 0.01, 0.001);
  EXPECT_EQ(ModelDemand().requests_per_second(now), 0);
}

TEST(ModelDemand, FadesWhenAModelIsQuiet) {
  ModelDemand demand;
  for (int i = 0; i < 100; ++i) demand.learn_arrival(Instant::at_second(i), 1);
  EXPECT_NEAR(demand.requests_per_second(Instant::at_second(100)), 1, 0.1);
  EXPECT_LT(demand.requests_per_second(Instant::at_second(1000)), 0.02);
}

TEST(ModelDemand, MeasuresTheLastSecondsInRows) {
  ModelDemand demand;
  for (int i = 0; i < 1000; ++i) demand.learn_arrival(Instant(i * 10'000), 3);
  EXPECT_NEAR(demand.rows_per_second(Instant::at_second(10)), 300, 15);
}

}  // namespace
}  // namespace berth::serving
