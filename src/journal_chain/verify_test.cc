#include "journal_chain/verify.h"

#include <gtest/gtest.h>

#include <string>

#include "journal_chain/field_hash.h"
#include "journal_chain/testing/memory_store.h"

namespace berth::chain {
namespace {

constexpr int kRowCount = 1000;

/// Rows in batches of 10, two snapshots, an outcome for each batch.
void fill(testing::MemoryStore& store) {
  auto writer = store.open_writer(1);
  ASSERT_TRUE(writer.has_value());
  for (int i = 0; i < kRowCount; i += 10) {
    JournalBatch batch;
    for (int j = i; j < i + 10; ++j) batch.entries.push_back({Instant(j), j, "Test", 1, std::to_string(j)});
    batch.outcomes.push_back({sha256(std::to_string(i)), {}, i, 200, "{}"});
    if (i % 500 == 490) batch.snapshot = JournalSnapshot{static_cast<std::uint64_t>(i) + 10, 1, "{}"};
    ASSERT_TRUE((*writer)->append(batch).has_value());
  }
}

TEST(Verify, CountsWhatIsRight) {
  testing::MemoryStore store;
  auto reader = store.open_reader();
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(verify_journal(**reader), JournalCounts{});
  fill(store);
  EXPECT_EQ(verify_journal(**reader), (JournalCounts{1, 1000, 1000, 2, 100}));
  auto writer = store.open_writer(1);
  ASSERT_TRUE(
      (*writer)->prune({.rows_before = 701, .outcomes_before_wall_us = 500, .keys_before_wall_us = 500}).has_value());
  EXPECT_EQ(verify_journal(**reader), (JournalCounts{701, 1000, 300, 2, 50}));
}

TEST(Verify, NamesTheFirstRowThatIsWrong) {
  for (const std::uint64_t sequence : {1U, 256U, 257U, 1000U}) {
    testing::MemoryStore store;
    fill(store);
    store.damage_row(sequence);
    auto reader = store.open_reader();
    const auto counts = verify_journal(**reader);
    ASSERT_FALSE(counts.has_value());
    EXPECT_EQ(counts.error().fault, StoreFault::kDamaged);
    EXPECT_NE(counts.error().message.find("row " + std::to_string(sequence) + ":"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::chain
