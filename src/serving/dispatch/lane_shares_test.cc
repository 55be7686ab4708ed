#include "serving/dispatch/lane_shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::serving {
namespace {

constexpr TenantIndex kFirst(0);
constexpr TenantIndex kSecond(1);
constexpr TenantIndex kThird(2);

/// Some seconds in which each tenant gets and misses so many milliseconds of lane time in each tenth.
void run(LaneShares& shares, const std::vector<std::pair<int, int>>& got_and_missed_ms) {
  for (int tenth = 0; tenth < 50; ++tenth) {
    const Instant now(tenth * 100'000);
    for (std::size_t tenant = 0; tenant < got_and_missed_ms.size(); ++tenant) {
      const std::vector<Request> requests = {{.tenant = TenantIndex(tenant)}};
      const auto [got, missed] = got_and_missed_ms[tenant];
      if (got > 0) shares.learn_start(requests, Micros(got * 1000), now);
      if (missed > 0) shares.learn_miss(TenantIndex(tenant), Micros(missed * 1000), now);
    }
  }
  shares.update_level(Instant(5'000'000));
}

TEST(LaneShares, LanesAreShortWhenRequestsAreMissed) {
  LaneShares shares({{"a", 1}, {"b", 1}});
  EXPECT_FALSE(shares.is_short());
  for (int i = 0; i < 50; ++i) shares.learn_miss(kFirst, Micros(1000), Instant(i));
  EXPECT_TRUE(shares.is_short());
  for (int i = 0; i < 2000; ++i) shares.learn_in_time();
  EXPECT_FALSE(shares.is_short());
}

TEST(LaneShares, WhoAsksForLittleIsWithinItsShare) {
  LaneShares shares({{"a", 1}, {"b", 1}, {"c", 1}});
  run(shares, {{20, 0}, {60, 300}, {20, 0}});
  EXPECT_TRUE(shares.is_within_share(kFirst));
  EXPECT_TRUE(shares.is_within_share(kThird));
}

TEST(LaneShares, WhoTakesMoreThanAnotherThatMissesIsAbove) {
  LaneShares shares({{"a", 1}, {"b", 1}});
  run(shares, {{30, 100}, {70, 100}});
  EXPECT_TRUE(shares.is_within_share(kFirst));
  EXPECT_FALSE(shares.is_within_share(kSecond));
}

TEST(LaneShares, WeightsCount) {
  LaneShares shares({{"a", 1}, {"b", 4}});
  run(shares, {{30, 100}, {70, 100}});
  EXPECT_FALSE(shares.is_within_share(kFirst));
  EXPECT_TRUE(shares.is_within_share(kSecond));
}

}  // namespace
}  // namespace berth::serving
