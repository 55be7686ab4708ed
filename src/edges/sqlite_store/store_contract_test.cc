/// The contract of the port `JournalStore`, for every store: in memory, in a file, and on a simulated disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "edges/sqlite_store/sqlite_store.h"
#include "edges/sqlite_store/test_scratch.h"
#include "edges/sqlite_store/testing/simulated_disk.h"
#include "live/chain/chain.h"
#include "live/chain/field_hash.h"
#include "live/chain/testing/memory_store.h"
#include "live/chain/verify.h"

namespace berth::edges {
namespace {

enum class Kind : std::uint8_t { kMemory, kFile, kSimulatedDisk };

JournalEntry entry(int number, std::size_t bytes = 0) {
  return {Instant(number), 1'000'000 + number, "Test", 1, "row " + std::to_string(number) + std::string(bytes, 'x')};
}

/// Rows `first` to `last`.
JournalBatch contract_rows(int first, int last) {
  JournalBatch batch;
  for (int number = first; number <= last; ++number) batch.entries.push_back(entry(number));
  return batch;
}

KeyedOutcome outcome(int number) {
  const std::string key = "key " + std::to_string(number);
  return {chain::sha256(key), chain::sha256("request"), number, 201, "{\"number\":" + std::to_string(number) + "}"};
}

/// Of a unit, from `from` to `to`.
UsageRow used(std::uint32_t gpu, std::int32_t start, std::int64_t from, std::int64_t to) {
  return {.key = {.gpu = gpu, .start = start, .from_us = from},
          .units = 1,
          .to_us = to,
          .sequence = static_cast<std::uint64_t>(from),
          .body = "{\"from\":" + std::to_string(from) + "}"};
}

/// Rows of three GPUs, whose units change at different times, in the order of their keys: from 0 to 10,000.
std::vector<UsageRow> usage_of_three_gpus() {
  std::vector<UsageRow> rows;
  for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
    for (std::int32_t start = 0; start < 4; ++start) {
      const std::int64_t step = 1 + 7 * start + 900 * (gpu == 1 ? 1 : 0);
      for (std::int64_t from = 0; from < 10'000; from += step) {
        rows.push_back(used(gpu, start, from, std::min<std::int64_t>(from + step, 10'000)));
      }
    }
  }
  return rows;
}

/// A blob of three parts, of which `part_count` are stored.
constexpr std::uint32_t kParts = 3;
BlobPart part_of_blob(int number, std::uint32_t index) {
  const std::string name = "part " + std::to_string(index) + " of " + std::to_string(number);
  return {.blob = {}, .index = index, .bytes = name + std::string(5000, '\0')};
}
Sha256 name_of_blob(int number) {
  chain::BytesHash hash;
  for (std::uint32_t index = 0; index < kParts; ++index) hash.add(part_of_blob(number, index).bytes);
  return hash.finish();
}
BlobRow blob_row(int number, std::uint32_t part_count, bool is_whole) {
  BlobRow row{.blob = name_of_blob(number), .part_count = part_count, .used_wall_us = number, .is_whole = is_whole};
  for (std::uint32_t index = 0; index < part_count; ++index) row.bytes += part_of_blob(number, index).bytes.size();
  return row;
}
JournalBatch part_batch(int number, std::uint32_t index) {
  JournalBatch batch;
  batch.blob_parts = {part_of_blob(number, index)};
  batch.blob_parts[0].blob = name_of_blob(number);
  batch.blobs = {blob_row(number, index + 1, false)};
  return batch;
}

class StoreContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    store_ = open();
    ASSERT_NE(store_, nullptr);
    writer_ = writer(1);
    reader_ = reader();
    ASSERT_TRUE(writer_ && reader_);
  }

  std::unique_ptr<JournalStore> open() {
    if (GetParam() == Kind::kMemory) return std::make_unique<berth::testing::MemoryStore>();
    SqliteStoreOptions options;
    if (GetParam() == Kind::kSimulatedDisk) options.vfs = disk_.vfs();
    auto opened = open_sqlite_store(scratch_.database(), options);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened ? std::move(opened->store) : nullptr;
  }
  std::unique_ptr<JournalWriter> writer(std::uint64_t epoch) {
    auto opened = store_->open_writer(epoch);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  std::unique_ptr<JournalReader> reader() {
    auto opened = store_->open_reader();
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  void append(const JournalBatch& batch) {
    const auto appended = writer_->append(batch);
    ASSERT_TRUE(appended.has_value()) << appended.error().message;
  }
  void prune_all(std::uint64_t before, std::int64_t outcomes_before) {
    for (int call = 0; call < 100; ++call) {
      const auto has_more = writer_->prune(
          {.rows_before = before, .outcomes_before_wall_us = outcomes_before, .keys_before_wall_us = outcomes_before});
      ASSERT_TRUE(has_more.has_value()) << has_more.error().message;
      if (!*has_more) return;
    }
    FAIL() << "no end";
  }
  JournalReader::Range range() { return reader_->range().value(); }

  testing::Scratch scratch_;
  testing::SimulatedDisk disk_{1};
  std::unique_ptr<JournalStore> store_;
  std::unique_ptr<JournalWriter> writer_;
  std::unique_ptr<JournalReader> reader_;
};

TEST_P(StoreContract, AnEmptyStoreHoldsNothing) {
  EXPECT_EQ(range(), (JournalReader::Range{0, 0}));
  EXPECT_TRUE(reader_->read(1, 10).value().empty());
  EXPECT_FALSE(reader_->latest_snapshot().value().has_value());
  EXPECT_FALSE(reader_->older_snapshot().value().has_value());
  EXPECT_FALSE(reader_->find_outcome(outcome(1).key).value().has_value());
  EXPECT_TRUE(reader_->read_outcomes(std::nullopt, 10).value().empty());
  EXPECT_TRUE(reader_->read_usage({}, std::nullopt, 10).value().empty());
  EXPECT_FALSE(writer_->prune_usage(INT64_MAX).value());
  EXPECT_EQ(chain::verify_journal(*reader_), chain::JournalCounts{});
}

TEST_P(StoreContract, RowsAreNumberedAndChained) {
  EXPECT_EQ(writer_->append(contract_rows(1, 3)).value(), 3U);
  EXPECT_EQ(writer_->append(contract_rows(4, 4)).value(), 4U);
  EXPECT_EQ(writer_->append({}).value(), 4U);
  EXPECT_EQ(range(), (JournalReader::Range{1, 4}));
  const auto found = reader_->read(1, 100).value();
  ASSERT_EQ(found.size(), 4U);
  Sha256 previous{};
  for (int number = 1; number <= 4; ++number) {
    const JournalRow& row = found[static_cast<std::size_t>(number - 1)];
    EXPECT_EQ(row.sequence, static_cast<std::uint64_t>(number));
    EXPECT_EQ(row.entry, entry(number));
    EXPECT_EQ(row.hash, chain::row_hash(previous, row.sequence, row.entry));
    previous = row.hash;
  }
}

TEST_P(StoreContract, ReadsWhereAndAsMuchAsIsAskedFor) {
  append(contract_rows(1, 10));
  const auto found = reader_->read(4, 3).value();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().sequence, 4U);
  EXPECT_EQ(found.back().sequence, 6U);
  EXPECT_EQ(reader_->read(0, 2).value().front().sequence, 1U);
  EXPECT_EQ(reader_->read(10, 100).value().size(), 1U);
  EXPECT_TRUE(reader_->read(11, 100).value().empty());
  EXPECT_TRUE(reader_->read(1, 0).value().empty());
}

TEST_P(StoreContract, AnyTextAndNumberComesBack) {
  JournalBatch batch;
  batch.entries.push_back({Instant(INT64_MIN), INT64_MAX, "", INT32_MAX, std::string("a\0b\xff", 4)});
  batch.entries.push_back({Instant(INT64_MAX), INT64_MIN, "k", 1, ""});
  batch.entries.push_back(entry(3, 3'000'000));
  batch.outcomes.push_back({{}, {}, -1, -1, ""});
  batch.snapshot = JournalSnapshot{3, 7, std::string(100'000, '\0')};
  append(batch);
  const auto found = reader_->read(1, 3).value();
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].entry, batch.entries[i]);
  EXPECT_EQ(reader_->find_outcome({}).value(), batch.outcomes[0]);
  EXPECT_EQ(reader_->latest_snapshot().value(), batch.snapshot);
}

TEST_P(StoreContract, ABatchIsStoredWholeOrNotAtAll) {
  JournalBatch first = contract_rows(1, 2);
  first.outcomes = {outcome(1)};
  append(first);
  JournalBatch refused = contract_rows(3, 4);
  refused.outcomes = {outcome(2), outcome(1)};  // key 1 has an outcome
  refused.snapshot = JournalSnapshot{4, 1, "refused"};
  const auto appended = writer_->append(refused);
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().fault, StoreFault::kFailed);
  EXPECT_EQ(range(), (JournalReader::Range{1, 2}));
  EXPECT_FALSE(reader_->find_outcome(outcome(2).key).value().has_value());
  EXPECT_FALSE(reader_->latest_snapshot().value().has_value());
  EXPECT_EQ(writer_->append(contract_rows(5, 5)).value(), 3U);
  EXPECT_EQ(reader_->read(3, 1).value().front().entry, entry(5));
  EXPECT_TRUE(chain::verify_journal(*reader_).has_value());
}

TEST_P(StoreContract, ALaterEpochDeposesTheEarlier) {
  EXPECT_EQ(store_->epoch().value(), 1U);
  append(contract_rows(1, 1));
  auto second = writer(3);
  EXPECT_EQ(store_->epoch().value(), 3U);
  const auto refused = writer_->append(contract_rows(2, 2));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().fault, StoreFault::kDeposed);
  EXPECT_EQ(writer_->prune({.rows_before = 1}).error().fault, StoreFault::kDeposed);
  EXPECT_EQ(writer_->prune_usage(1).error().fault, StoreFault::kDeposed);
  EXPECT_EQ(writer_->prune_blobs({}).error().fault, StoreFault::kDeposed);
  EXPECT_EQ(store_->open_writer(2).error().fault, StoreFault::kDeposed);
  EXPECT_EQ(second->append(contract_rows(3, 3)).value(), 2U);
  EXPECT_TRUE(store_->open_writer(3).has_value());
  EXPECT_EQ(range(), (JournalReader::Range{1, 2}));
}

TEST_P(StoreContract, TheNewestTwoSnapshotsAreKept) {
  for (int number = 1; number <= 4; ++number) {
    JournalBatch batch = contract_rows(number, number);
    batch.snapshot = JournalSnapshot{static_cast<std::uint64_t>(number), 1, "of " + std::to_string(number)};
    append(batch);
  }
  EXPECT_EQ(reader_->latest_snapshot().value(), (JournalSnapshot{4, 1, "of 4"}));
  EXPECT_EQ(reader_->older_snapshot().value(), (JournalSnapshot{3, 1, "of 3"}));
  JournalBatch again;
  again.snapshot = JournalSnapshot{4, 2, "again"};
  append(again);
  EXPECT_EQ(reader_->latest_snapshot().value(), again.snapshot);
  EXPECT_EQ(reader_->older_snapshot().value(), (JournalSnapshot{3, 1, "of 3"}));
  EXPECT_EQ(chain::verify_journal(*reader_).value().snapshots, 2U);
}

TEST_P(StoreContract, OutcomesAreFoundByTheirKeys) {
  JournalBatch batch;
  for (int number = 0; number < 50; ++number) batch.outcomes.push_back(outcome(number));
  append(batch);
  for (const KeyedOutcome& wanted : batch.outcomes) EXPECT_EQ(reader_->find_outcome(wanted.key).value(), wanted);
  EXPECT_FALSE(reader_->find_outcome(outcome(50).key).value().has_value());
  const auto two = writer_->find_outcomes({outcome(7).key, outcome(50).key, outcome(3).key}).value();
  EXPECT_EQ(two.size(), 2U);
  EXPECT_EQ(two.at(outcome(3).key), outcome(3));
  EXPECT_EQ(two.at(outcome(7).key), outcome(7));
  std::ranges::sort(batch.outcomes, {}, &KeyedOutcome::key);
  EXPECT_EQ(reader_->read_outcomes(std::nullopt, 100).value(), batch.outcomes);
  const auto part = reader_->read_outcomes(batch.outcomes[9].key, 5).value();
  EXPECT_EQ(part, std::vector(batch.outcomes.begin() + 10, batch.outcomes.begin() + 15));
}

TEST_P(StoreContract, AnOutcomeIsBegunAndFinishedOnce) {
  KeyedOutcome begun = outcome(1);
  begun.body.clear();
  JournalBatch batch = contract_rows(1, 1);
  batch.outcomes = {begun};
  append(batch);
  EXPECT_FALSE(reader_->find_outcome(begun.key).value()->is_finished());
  KeyedOutcome of_another = outcome(1);
  of_another.request = chain::sha256("another request");
  EXPECT_EQ(writer_->append({.outcomes = {of_another}}).error().fault, StoreFault::kFailed);
  append({.outcomes = {outcome(1)}});
  EXPECT_EQ(reader_->find_outcome(begun.key).value(), outcome(1));
  EXPECT_FALSE(writer_->append({.outcomes = {outcome(1)}}).has_value());
  EXPECT_FALSE(writer_->append({.outcomes = {begun}}).has_value());
  EXPECT_EQ(chain::verify_journal(*reader_).value(), (chain::JournalCounts{1, 1, 1, 0, 1}));
}

TEST_P(StoreContract, OutcomesExpireBeforeTheirKeysAreForgotten) {
  JournalBatch batch;
  for (int number = 0; number < 2500; ++number) batch.outcomes.push_back(outcome(number));
  append(batch);
  const PruneLimits limits{.outcomes_before_wall_us = 2000, .keys_before_wall_us = 1000};
  for (bool has_more = true; has_more;) has_more = writer_->prune(limits).value();
  EXPECT_FALSE(reader_->find_outcome(outcome(999).key).value().has_value());
  KeyedOutcome expired = outcome(1999);
  expired.status = 0;
  expired.body.clear();
  EXPECT_EQ(reader_->find_outcome(expired.key).value(), expired);
  EXPECT_EQ(reader_->find_outcome(outcome(2000).key).value(), outcome(2000));
  EXPECT_FALSE(writer_->append({.outcomes = {outcome(1999)}}).has_value());
  EXPECT_EQ(chain::verify_journal(*reader_).value().outcomes, 1500U);
}

TEST_P(StoreContract, UsageIsReadBySpan) {
  JournalBatch batch;
  batch.usage = usage_of_three_gpus();
  append(batch);
  EXPECT_EQ(chain::verify_journal(*reader_).value().usage, batch.usage.size());
  for (const UsageSpan& span :
       {UsageSpan(), UsageSpan{0, 10'000}, UsageSpan{4999, 5000}, UsageSpan{5000, 5400}, UsageSpan{-5, 1},
        UsageSpan{9999, INT64_MAX}, UsageSpan{INT64_MIN, 0}, UsageSpan{10'000, 20'000}, UsageSpan{70, 70}}) {
    std::vector<UsageRow> wanted;
    for (const UsageRow& row : batch.usage) {
      const bool is_in = span.from_us < span.to_us && row.key.from_us < span.to_us && row.to_us > span.from_us;
      if (is_in) wanted.push_back(row);
    }
    EXPECT_EQ(reader_->read_usage(span, std::nullopt, 100'000).value(), wanted) << span.from_us;
    std::vector<UsageRow> in_pages;
    while (true) {
      const auto after = in_pages.empty() ? std::nullopt : std::optional(in_pages.back().key);
      const auto page = reader_->read_usage(span, after, 7).value();
      if (page.empty()) break;
      EXPECT_LE(page.size(), 7U);
      in_pages.insert(in_pages.end(), page.begin(), page.end());
      if (in_pages.size() > 500) break;  // the beginning shows it
    }
    wanted.resize(std::min(wanted.size(), in_pages.size()));
    EXPECT_EQ(in_pages, wanted) << span.from_us;
  }
}

TEST_P(StoreContract, UsageOfOneKeyIsStoredOnce) {
  JournalBatch first;
  first.usage = {used(0, 0, 0, 10)};
  append(first);
  JournalBatch refused = contract_rows(1, 1);
  refused.usage = {used(0, 0, 10, 20), used(0, 0, 0, 20)};
  ASSERT_FALSE(writer_->append(refused).has_value());
  EXPECT_EQ(reader_->read_usage({}, std::nullopt, 10).value(), first.usage);
  EXPECT_EQ(range(), (JournalReader::Range{0, 0}));
}

TEST_P(StoreContract, UsageThatWasOverIsPruned) {
  JournalBatch batch;
  batch.usage = usage_of_three_gpus();
  append(batch);
  for (const std::int64_t before : {0, 1, 907, 5000, 5001}) {
    for (int call = 0; writer_->prune_usage(before).value(); ++call) ASSERT_LT(call, 1000);
    std::erase_if(batch.usage, [&](const UsageRow& row) { return row.to_us <= before; });
    EXPECT_EQ(reader_->read_usage({}, std::nullopt, 100'000).value(), batch.usage) << before;
    EXPECT_TRUE(chain::verify_journal(*reader_).has_value());
  }
  for (int call = 0; writer_->prune_usage(INT64_MAX).value(); ++call) ASSERT_LT(call, 1000);
  EXPECT_TRUE(reader_->read_usage({}, std::nullopt, 10).value().empty());
}

TEST_P(StoreContract, PruningLeavesNoGapBetweenUsageOfDifferentPlacesWhereverItStops) {
  // All four units together, then two and two, and so on.
  constexpr int kTimes = 3000;
  JournalBatch batch;
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    for (int from = 0; from < kTimes; ++from) {
      UsageRow row = used(gpu, 0, from, from + 1);
      row.units = from % 2 == 0 ? 4 : 2;
      batch.usage.push_back(row);
      row.key.start = 2;
      if (from % 2 != 0) batch.usage.push_back(row);
    }
  }
  append(batch);
  bool has_more = true;
  for (int call = 0; has_more; ++call) {
    ASSERT_LT(call, 1000);
    has_more = writer_->prune_usage(kTimes - 10).value();
    const auto counts = chain::verify_journal(*reader_);
    ASSERT_TRUE(counts.has_value()) << call << ": " << counts.error().message;
  }
  EXPECT_EQ(chain::verify_journal(*reader_).value().usage, 2U * 15U);
}

TEST_P(StoreContract, AnyTextAndNumberOfUsageComesBack) {
  JournalBatch batch;
  batch.usage = {{.key = {.gpu = 0, .start = 0, .from_us = INT64_MIN},
                  .units = INT32_MAX,
                  .to_us = INT64_MAX,
                  .sequence = INT64_MAX,
                  .body = std::string("a\0b\xff", 4)},
                 {.key = {.gpu = UINT32_MAX, .start = INT32_MAX, .from_us = INT64_MAX},
                  .units = -1,
                  .to_us = INT64_MIN,
                  .sequence = 0,
                  .body = ""}};
  append(batch);
  EXPECT_EQ(reader_->read_usage({}, std::nullopt, 10).value(),
            std::vector(batch.usage.begin(), batch.usage.begin() + 1))
      << "the second one has no part in any span";
}

TEST_P(StoreContract, VerifyFindsUsageThatIsMissingOrOverlaps) {
  JournalBatch whole;
  whole.usage = {used(0, 0, 0, 10), used(0, 0, 10, 20), used(0, 1, 5, 6), used(1, 0, 3, 4)};
  append(whole);
  EXPECT_EQ(chain::verify_journal(*reader_).value().usage, 4U);
  JournalBatch gap;
  gap.usage = {used(0, 1, 7, 9)};
  append(gap);
  const auto found = chain::verify_journal(*reader_);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().message, "usage of gpu-0, unit 1: a row is missing, or two overlap");
}

TEST_P(StoreContract, ABlobIsStoredPartByPart) {
  const BlobRow whole = blob_row(7, kParts, true);
  EXPECT_FALSE(reader_->find_blob(whole.blob).value().has_value());
  for (std::uint32_t index = 0; index < kParts; ++index) {
    append(part_batch(7, index));
    EXPECT_EQ(reader_->find_blob(whole.blob).value(), blob_row(7, index + 1, false));
  }
  append({.blobs = {whole}});
  EXPECT_EQ(reader_->find_blob(whole.blob).value(), whole);
  EXPECT_EQ(reader_->read_blobs(std::nullopt, 10).value(), std::vector{whole});
  EXPECT_TRUE(reader_->read_blobs(whole.blob, 10).value().empty());
  EXPECT_EQ(reader_->read_blob_part(whole.blob, 1).value(), part_batch(7, 1).blob_parts[0]);
  EXPECT_FALSE(reader_->read_blob_part(whole.blob, kParts).value().has_value());
  EXPECT_EQ(chain::verify_journal(*reader_).value().blobs, 1U);
}

TEST_P(StoreContract, VerifyFindsABlobThatIsNotWhatItsNameSays) {
  JournalBatch batch = part_batch(7, 0);
  batch.blobs[0].is_whole = true;
  append(batch);
  const auto found = chain::verify_journal(*reader_);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().message,
            "blob " + chain::hex_of(batch.blobs[0].blob) + ": its bytes are not those of its name");
  append({.blobs = {blob_row(7, 2, false)}});
  EXPECT_EQ(chain::verify_journal(*reader_).error().message,
            "blob " + chain::hex_of(batch.blobs[0].blob) + ": part 1 is missing");
}

TEST_P(StoreContract, BlobsAreRemovedAfterTheirLastUse) {
  constexpr int kBlobs = 40;
  for (int number = 0; number < kBlobs; ++number) {
    for (std::uint32_t index = 0; index < kParts; ++index) append(part_batch(number, index));
    if (number % 2 == 0) append({.blobs = {blob_row(number, kParts, true)}});
  }
  const BlobUse use{.used = {name_of_blob(0), name_of_blob(20)},
                    .now_wall_us = 1000,
                    .note_before_wall_us = 15,
                    .unused_before_wall_us = 30};
  for (int call = 0; writer_->prune_blobs(use).value(); ++call) {
    ASSERT_LT(call, 100);
    ASSERT_TRUE(chain::verify_journal(*reader_).has_value());
  }
  BlobRow noted = blob_row(0, kParts, true);
  noted.used_wall_us = 1000;
  EXPECT_EQ(reader_->find_blob(noted.blob).value(), noted);
  EXPECT_EQ(reader_->find_blob(name_of_blob(20)).value(), blob_row(20, kParts, true)) << "its use was noted lately";
  for (const int number : {1, 2, 29}) {
    EXPECT_FALSE(reader_->find_blob(name_of_blob(number)).value().has_value()) << number;
    EXPECT_FALSE(reader_->read_blob_part(name_of_blob(number), 0).value().has_value()) << number;
  }
  EXPECT_EQ(reader_->find_blob(name_of_blob(30)).value(), blob_row(30, kParts, true));
  EXPECT_EQ(chain::verify_journal(*reader_).value().blobs, 12U);
}

TEST_P(StoreContract, OfTooManyOutcomesTheOldestExpire) {
  JournalBatch batch;
  for (int number = 0; number < 2500; ++number) batch.outcomes.push_back(outcome(number));
  append(batch);
  const PruneLimits limits{.outcomes_max = 1500};
  for (int round = 0; round < 2; ++round) {
    for (int call = 0; writer_->prune(limits).value(); ++call) ASSERT_LT(call, 100);
  }
  EXPECT_TRUE(reader_->find_outcome(outcome(999).key).value()->is_expired());
  EXPECT_EQ(reader_->find_outcome(outcome(1000).key).value(), outcome(1000));
  EXPECT_EQ(chain::verify_journal(*reader_).value().outcomes, 2500U) << "the keys stay known";
  EXPECT_FALSE(writer_->append({.outcomes = {outcome(0)}}).has_value());
}

TEST_P(StoreContract, OnlyWhatASnapshotCoversIsPruned) {
  JournalBatch batch = contract_rows(1, 3000);
  for (int number = 0; number < 2500; ++number) batch.outcomes.push_back(outcome(number));
  append(batch);
  prune_all(2000, 0);
  EXPECT_EQ(range(), (JournalReader::Range{1, 3000}));
  JournalBatch covering;
  covering.snapshot = JournalSnapshot{2500, 1, "{}"};
  append(covering);
  prune_all(2400, 1000);
  EXPECT_EQ(range(), (JournalReader::Range{2400, 3000}));
  EXPECT_EQ(reader_->read(1, 1).value().front().sequence, 2400U);
  EXPECT_EQ(chain::verify_journal(*reader_).value(), (chain::JournalCounts{2400, 3000, 601, 1, 1500}));
  prune_all(UINT64_MAX, 0);
  EXPECT_EQ(range(), (JournalReader::Range{2501, 3000}));
  prune_all(10, 0);
  EXPECT_EQ(range(), (JournalReader::Range{2501, 3000}));
}

TEST_P(StoreContract, SequenceNumbersGoOnWhenEverythingWasPruned) {
  JournalBatch batch = contract_rows(1, 5);
  batch.snapshot = JournalSnapshot{5, 1, "{}"};
  append(batch);
  prune_all(6, 0);
  EXPECT_EQ(range(), (JournalReader::Range{0, 0}));
  EXPECT_TRUE(reader_->read(1, 10).value().empty());
  EXPECT_EQ(writer_->append(contract_rows(6, 6)).value(), 6U);
  EXPECT_EQ(range(), (JournalReader::Range{6, 6}));
  EXPECT_EQ(chain::verify_journal(*reader_).value(), (chain::JournalCounts{6, 6, 1, 1, 0}));
}

TEST_P(StoreContract, ReadersSeeWholeBatchesWhileAWriterAppends) {
  if (GetParam() == Kind::kSimulatedDisk) GTEST_SKIP() << "a simulated disk is for one thread";
  constexpr int kBatches = 200;
  std::atomic<bool> is_done = false;
  std::thread writing([&] {
    for (int batch = 0; batch < kBatches; ++batch) {
      JournalBatch next = contract_rows(10 * batch + 1, 10 * batch + 10);
      if (batch % 20 == 19) next.snapshot = JournalSnapshot{static_cast<std::uint64_t>(10 * batch + 10), 1, "{}"};
      if (!writer_->append(next).has_value()) ADD_FAILURE() << "a reader blocks the writer";
      if (batch % 50 == 49 && !writer_->prune({.rows_before = static_cast<std::uint64_t>(10 * batch - 200)}))
        ADD_FAILURE();
    }
    is_done = true;
  });
  std::uint64_t last = 0;
  int walks = 0;
  while (!is_done || walks == 0) {
    const auto counts = chain::verify_journal(*reader_);
    if (!counts) {
      ADD_FAILURE() << counts.error().message;
      break;
    }
    EXPECT_EQ(counts->last % 10, 0U);
    EXPECT_GE(counts->last, last);
    last = counts->last;
    ++walks;
  }
  writing.join();
  EXPECT_EQ(range().last, 10U * kBatches);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::Values(Kind::kMemory, Kind::kFile, Kind::kSimulatedDisk),
                         [](const auto& kind) {
                           switch (kind.param) {
                             case Kind::kMemory:
                               return "Memory";
                             case Kind::kFile:
                               return "File";
                             case Kind::kSimulatedDisk:
                               return "SimulatedDisk";
                           }
                           return "";
                         });

}  // namespace
}  // namespace berth::edges
