#include "live/chain/age.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "live/chain/testing/memory_store.h"

namespace berth::chain {
namespace {

JournalBatch row_at(std::int64_t wall_us) {
  JournalBatch batch;
  batch.entries.push_back({Instant(), wall_us, "Test", 1, "{}"});
  return batch;
}

TEST(Age, FindsTheFirstRowSinceATime) {
  testing::MemoryStore store;
  auto reader = store.open_reader();
  auto writer = store.open_writer(1);
  EXPECT_EQ(first_row_since(**reader, 0), 1U);
  for (std::int64_t row = 1; row <= 40; ++row) {
    ASSERT_TRUE((*writer)->append(row_at(10 * ((row + 1) / 2))).has_value());  // two rows at each time
  }
  EXPECT_EQ(first_row_since(**reader, 0), 1U);
  EXPECT_EQ(first_row_since(**reader, 10), 1U);
  EXPECT_EQ(first_row_since(**reader, 11), 3U);
  EXPECT_EQ(first_row_since(**reader, 200), 39U);
  EXPECT_EQ(first_row_since(**reader, 201), 41U);
  JournalBatch covering;
  covering.snapshot = JournalSnapshot{20, 1, "{}"};
  ASSERT_TRUE((*writer)->append(covering).has_value());
  ASSERT_TRUE((*writer)->prune({.rows_before = 9}).has_value());
  EXPECT_EQ(first_row_since(**reader, 11), 9U);
}

TEST(Age, AJumpOfTheClockIsKnownForSoLong) {
  testing::MemoryStore store;
  auto reader = store.open_reader();
  auto writer = store.open_writer(1);
  const auto append = [&](std::int64_t wall_us) { ASSERT_TRUE((*writer)->append(row_at(wall_us)).has_value()); };
  EXPECT_EQ(has_jumped(**reader, 5000, 100), false);  // nothing is old
  for (std::int64_t at = 1000; at <= 1500; at += 50) append(at);
  EXPECT_EQ(has_jumped(**reader, 1550, 100), false);
  EXPECT_EQ(has_jumped(**reader, 1600, 100), false);
  EXPECT_EQ(has_jumped(**reader, 1601, 100), true);  // before the first row written since
  EXPECT_EQ(has_jumped(**reader, 9000, 100), true);
  append(9000);
  EXPECT_EQ(has_jumped(**reader, 9000, 100), true);
  append(9050);  // another start under the same clock is no evidence for it
  EXPECT_EQ(has_jumped(**reader, 9100, 100), true);
  append(9100);
  EXPECT_EQ(has_jumped(**reader, 9101, 100), false);  // the clock has advanced for that long
  EXPECT_EQ(has_jumped(**reader, 1560, 100), false);  // the clock was set back
}

TEST(Age, WhereNoOlderRowIsLeftNothingJumped) {
  testing::MemoryStore store;
  auto reader = store.open_reader();
  auto writer = store.open_writer(1);
  for (const std::int64_t at : {10, 20, 5000, 5010}) ASSERT_TRUE((*writer)->append(row_at(at)).has_value());
  EXPECT_EQ(has_jumped(**reader, 5020, 100), true);
  JournalBatch covering;
  covering.snapshot = JournalSnapshot{2, 1, "{}"};
  ASSERT_TRUE((*writer)->append(covering).has_value());
  ASSERT_TRUE((*writer)->prune({.rows_before = 3}).has_value());
  EXPECT_EQ(has_jumped(**reader, 5020, 100), false);
}

}  // namespace
}  // namespace berth::chain
