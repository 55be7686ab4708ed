#include "journal_chain/age.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "journal_chain/testing/memory_store.h"

namespace berth::chain {
namespace {

TEST(Age, FindsTheFirstRowSinceATime) {
  testing::MemoryStore store;
  auto reader = store.open_reader();
  auto writer = store.open_writer(1);
  EXPECT_EQ(first_row_since(**reader, 0), 1U);
  for (std::int64_t row = 1; row <= 40; ++row) {
    JournalBatch batch;  // two rows at each time
    batch.entries.push_back({Instant(), 10 * ((row + 1) / 2), "Test", 1, "{}"});
    ASSERT_TRUE((*writer)->append(batch).has_value());
  }
  EXPECT_EQ(first_row_since(**reader, 0), 1U);
  EXPECT_EQ(first_row_since(**reader, 10), 1U);
  EXPECT_EQ(first_row_since(**reader, 11), 3U);
  EXPECT_EQ(first_row_since(**reader, 200), 39U);
  EXPECT_EQ(first_row_since(**reader, 201), 41U);
  JournalBatch covering;
  covering.snapshot = JournalSnapshot{20, 1, "{}"};
  ASSERT_TRUE((*writer)->append(covering).has_value());
  ASSERT_TRUE((*writer)->prune(9, 0).has_value());
  EXPECT_EQ(first_row_since(**reader, 11), 9U);
}

}  // namespace
}  // namespace berth::chain
