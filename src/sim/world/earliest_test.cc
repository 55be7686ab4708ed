#include "sim/world/earliest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/core/rng.h"

namespace berth::sim {
namespace {

TEST(Earliest, NothingIsNever) {
  Earliest times;
  EXPECT_EQ(times.at_us(), Earliest::kNever);
  times.add_place();
  EXPECT_EQ(times.at_us(), Earliest::kNever);
  EXPECT_EQ(times.place(), 0U);
}

TEST(Earliest, OfEqualTimesTheLowestPlaceComesFirst) {
  Earliest times;
  for (int place = 0; place < 5; ++place) times.add_place();
  times.set(4, 7);
  times.set(2, 7);
  times.set(3, 9);
  EXPECT_EQ(times.at_us(), 7);
  EXPECT_EQ(times.place(), 2U);
  times.set(2, Earliest::kNever);
  EXPECT_EQ(times.place(), 4U);
}

TEST(Earliest, AgreesWithASearchThroughAll) {
  Rng rng(3);
  Earliest times;
  std::vector<std::int64_t> all;
  for (int round = 0; round < 3000; ++round) {
    if (all.empty() || (all.size() < 70 && rng.below(20) == 0)) {
      times.add_place();
      all.push_back(Earliest::kNever);
    }
    const std::size_t place = rng.below(all.size());
    all[place] = rng.below(5) == 0 ? Earliest::kNever : static_cast<std::int64_t>(rng.below(40));
    times.set(place, all[place]);
    const auto least = std::ranges::min_element(all);
    ASSERT_EQ(times.at_us(), *least);
    ASSERT_EQ(times.place(), static_cast<std::size_t>(least - all.begin()));
  }
}

}  // namespace
}  // namespace berth::sim
