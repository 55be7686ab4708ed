#include "edges/sqlite_store/detail/age_counts.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace berth::edges::detail {
namespace {

TEST(AgeCounts, CutsExactlyWhileTheyAreFew) {
  AgeCounts ages;
  EXPECT_EQ(ages.cut_for(0), INT64_MIN);
  for (const std::int64_t wall_us : {-5, 7, 7, 100}) ages.add(wall_us);
  EXPECT_EQ(ages.cut_for(4), INT64_MIN);
  EXPECT_EQ(ages.cut_for(3), -4);
  EXPECT_EQ(ages.cut_for(2), 8) << "of equal ones all or none";
  EXPECT_EQ(ages.cut_for(1), 8);
  EXPECT_EQ(ages.cut_for(0), 101);
}

TEST(AgeCounts, OfManyNeverKeepsMoreAndHardlyFewer) {
  AgeCounts ages;
  constexpr std::int64_t kCount = 100'000;
  constexpr std::int64_t kApart = 1000;
  for (std::int64_t i = 0; i < kCount; ++i) ages.add(i * kApart);
  for (const std::int64_t wanted : {1000, 50'000, 99'999}) {
    const std::int64_t cut = ages.cut_for(static_cast<std::uint64_t>(wanted));
    const std::int64_t kept = kCount - (cut + kApart - 1) / kApart;
    EXPECT_LE(kept, wanted);
    EXPECT_GT(kept, wanted - kCount / 1000);
  }
}

}  // namespace
}  // namespace berth::edges::detail
