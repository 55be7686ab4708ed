#include "live/chain/verify.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/chain/field_hash.h"
#include "live/chain/testing/memory_store.h"

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

UsageRow used(std::int32_t start, std::int32_t units, std::int64_t from) {
  return {.key = {.gpu = 7, .start = start, .from_us = from}, .units = units, .to_us = from + 1, .body = "{}"};
}

/// A reader of a store that grows between two calls.
class InterruptedReader : public JournalReader {
 public:
  InterruptedReader(JournalStore& store, JournalBatch batch)
      : reader_(store.open_reader().value()), writer_(store.open_writer(1).value()), batch_(std::move(batch)) {}

  StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span, const std::optional<UsageKey>& after,
                                                std::size_t count_max) override {
    auto rows = reader_->read_usage(span, after, count_max);
    EXPECT_TRUE(writer_->append(std::exchange(batch_, {})).has_value());
    return rows;
  }
  StoreResult<Range> range() override { return reader_->range(); }
  StoreResult<std::vector<JournalRow>> read(std::uint64_t from, std::size_t count_max) override {
    return reader_->read(from, count_max);
  }
  StoreResult<std::optional<JournalSnapshot>> latest_snapshot() override { return reader_->latest_snapshot(); }
  StoreResult<std::optional<JournalSnapshot>> older_snapshot() override { return reader_->older_snapshot(); }
  StoreResult<std::optional<KeyedOutcome>> find_outcome(const Sha256& key) override {
    return reader_->find_outcome(key);
  }
  StoreResult<std::vector<KeyedOutcome>> read_outcomes(const std::optional<Sha256>& after,
                                                       std::size_t count_max) override {
    return reader_->read_outcomes(after, count_max);
  }
  StoreResult<std::optional<BlobRow>> find_blob(const Sha256& blob) override { return reader_->find_blob(blob); }
  StoreResult<std::vector<BlobRow>> read_blobs(const std::optional<Sha256>& after, std::size_t count_max) override {
    return reader_->read_blobs(after, count_max);
  }
  StoreResult<std::optional<BlobPart>> read_blob_part(const Sha256& blob, std::uint32_t index) override {
    return reader_->read_blob_part(blob, index);
  }

 private:
  std::unique_ptr<JournalReader> reader_;
  std::unique_ptr<JournalWriter> writer_;
  JournalBatch batch_;
};

/// A store whose first page of usage ends after the last row of units 0 to 3, then 2 and 3.
void fill_with_usage(testing::MemoryStore& store, std::int64_t row_count) {
  JournalBatch batch;
  for (std::int64_t from = 0; from < row_count; ++from) batch.usage.push_back(used(0, 4, from));
  batch.usage.push_back(used(2, 2, row_count));
  ASSERT_TRUE(store.open_writer(1).value()->append(batch).has_value());
}

TEST(Verify, UsageThatIsAppendedMeanwhileIsNoGap) {
  testing::MemoryStore store;
  fill_with_usage(store, 255);
  JournalBatch meanwhile;
  meanwhile.usage = {used(0, 2, 255), used(0, 4, 256), used(2, 2, 257)};
  InterruptedReader reader(store, meanwhile);
  const auto counts = verify_journal(reader);
  ASSERT_TRUE(counts.has_value()) << counts.error().message;
  EXPECT_EQ(counts->usage, 255U + 2U);
}

TEST(Verify, AGapIsFoundWhileUsageIsAppended) {
  for (const std::int64_t row_count : {255, 5000}) {
    testing::MemoryStore store;
    fill_with_usage(store, row_count);
    JournalBatch meanwhile;
    meanwhile.usage = {used(0, 2, row_count), used(2, 2, row_count + 2)};
    InterruptedReader reader(store, meanwhile);
    const auto counts = verify_journal(reader);
    ASSERT_FALSE(counts.has_value());
    EXPECT_EQ(counts.error().message, "usage of gpu-7, unit 2: a row is missing, or two overlap");
  }
}

}  // namespace
}  // namespace berth::chain
