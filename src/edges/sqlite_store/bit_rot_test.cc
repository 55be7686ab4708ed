/// Flips single bits of a journal, and empties pages. In the contents of rows every flip is detected, and no wrong data
/// is returned; elsewhere in the file a flip is detected, or does not affect the data returned.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/sqlite_store/test_scratch.h"
#include "live/chain/field_hash.h"

namespace berth::edges {
namespace {

constexpr int kRowCount = 60;
constexpr int kOutcomeCount = 10;
constexpr std::size_t kNumberBytes = 3 + 8;  // as which the two times of a row are stored

/// All results of a reader for single requests; refused ones are absent.
struct Content {
  std::vector<std::optional<JournalRow>> rows;
  std::vector<std::optional<KeyedOutcome>> outcomes;
  std::vector<std::optional<JournalSnapshot>> snapshots;
  std::vector<std::optional<UsageRow>> usage;
  std::vector<std::optional<BlobRow>> blobs;
  std::vector<std::optional<BlobPart>> blob_parts;
};

constexpr int kBlobCount = 10;

std::string blob_text(int number) { return fmt::format("<blob {}>", number); }

Sha256 key_of(int number) { return chain::sha256(fmt::format("key {}", number)); }

/// Absent if the store cannot be opened at all.
std::optional<Content> read_all(const std::string& path) {
  const auto reader = open_sqlite_reader(path);
  if (!reader) return std::nullopt;
  Content content;
  for (std::uint64_t sequence = 1; sequence <= kRowCount; ++sequence) {
    auto rows = (*reader)->read(sequence, 1);
    content.rows.push_back(rows && !rows->empty() ? std::optional(rows->front()) : std::nullopt);
  }
  for (int number = 0; number < kOutcomeCount; ++number) {
    auto outcome = (*reader)->find_outcome(key_of(number));
    content.outcomes.push_back(outcome ? *outcome : std::nullopt);
  }
  for (const auto& snapshot : {(*reader)->latest_snapshot(), (*reader)->older_snapshot()}) {
    content.snapshots.push_back(snapshot ? *snapshot : std::nullopt);
  }
  for (int number = 0; number < kOutcomeCount; ++number) {
    const std::int64_t second = 1'700'000'000LL + number;
    auto rows =
        (*reader)->read_usage({.from_us = second * 1'000'000, .to_us = second * 1'000'000 + 1}, std::nullopt, 1);
    content.usage.push_back(rows && !rows->empty() ? std::optional(rows->front()) : std::nullopt);
  }
  for (int number = 0; number < kBlobCount; ++number) {
    const Sha256 name = chain::sha256(blob_text(number));
    const auto row = (*reader)->find_blob(name);
    content.blobs.push_back(row ? *row : std::nullopt);
    auto part = (*reader)->read_blob_part(name, 0);
    content.blob_parts.push_back(part ? *part : std::nullopt);
  }
  return content;
}

/// Whether each item read equals the one written.
template <class T>
bool is_right_where_there(const std::vector<std::optional<T>>& found, const std::vector<std::optional<T>>& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (found[i] && found[i] != written[i]) return false;
  }
  return true;
}

class BitRot : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      auto opened = open_sqlite_store(scratch_.database());
      ASSERT_TRUE(opened.has_value());
      const auto writer = opened->store->open_writer(1).value();
      for (int row = 1; row <= kRowCount; row += 10) {
        JournalBatch batch;
        for (int number = row; number < row + 10; ++number) {
          // Two rows do not fit into a page.
          const std::string body =
              fmt::format("<row {:03}{}>", number, std::string(number % 30 == 7 ? 6000 : 200, '.'));
          batch.entries.push_back({Instant(1'000'000 + number), 1'700'000'000'000'000 + number, "ServiceSet", 1, body});
        }
        if (row <= kOutcomeCount) {
          for (int number = 0; number < kOutcomeCount; ++number) {
            batch.outcomes.push_back(
                {key_of(number), key_of(-number), number, 200, fmt::format("<outcome {}>", number)});
            const std::int64_t second = 1'700'000'000LL + number;
            batch.usage.push_back({.key = {.gpu = 3, .start = 2, .from_us = second * 1'000'000},
                                   .units = 2,
                                   .to_us = (second + 1) * 1'000'000,
                                   .sequence = 5,
                                   .body = fmt::format("<usage {}>", number)});
          }
        }
        if (row <= kBlobCount) {
          for (int number = 0; number < kBlobCount; ++number) {
            const std::string text = blob_text(number);
            const Sha256 name = chain::sha256(text);
            batch.blob_parts.push_back({.blob = name, .index = 0, .bytes = text});
            batch.blobs.push_back(
                {.blob = name, .bytes = text.size(), .part_count = 1, .used_wall_us = row, .is_whole = true});
          }
        }
        if (row > 30) batch.snapshot = JournalSnapshot{static_cast<std::uint64_t>(row), 1, fmt::format("<of {}>", row)};
        ASSERT_TRUE(writer->append(batch).has_value());
      }
    }
    compact();
    std::ifstream file(scratch_.database(), std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    written_ = read_all(scratch_.database()).value();
    for (const auto& row : written_.rows) ASSERT_TRUE(row.has_value());
    for (const auto& row : written_.usage) ASSERT_TRUE(row.has_value());
    for (const auto& part : written_.blob_parts) ASSERT_TRUE(part.has_value());
    ASSERT_TRUE(verify_sqlite_store(scratch_.database()).has_value());
  }

  /// So that no copy of a row is left in free space.
  void compact() const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(scratch_.database().c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, "VACUUM", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }

  void flip(std::size_t bit) {
    bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << (bit % 8)));
    std::fstream file(scratch_.database(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(bit / 8));
    file.put(bytes_[bit / 8]);
  }

  /// Whether all data returned now is correct.
  void expect_nothing_wrong(std::size_t bit) {
    const auto content = read_all(scratch_.database());
    if (!content) return;
    EXPECT_TRUE(is_right_where_there(content->rows, written_.rows)) << bit;
    EXPECT_TRUE(is_right_where_there(content->outcomes, written_.outcomes)) << bit;
    EXPECT_TRUE(is_right_where_there(content->snapshots, written_.snapshots)) << bit;
    EXPECT_TRUE(is_right_where_there(content->usage, written_.usage)) << bit;
    EXPECT_TRUE(is_right_where_there(content->blobs, written_.blobs)) << bit;
    EXPECT_TRUE(is_right_where_there(content->blob_parts, written_.blob_parts)) << bit;
  }

  /// Adds the places of a text.
  void add_places(std::string_view text, std::vector<std::size_t>& places) const {
    const std::size_t at = bytes_.find(text);
    ASSERT_NE(at, std::string::npos);
    for (std::size_t i = 0; i < text.size(); ++i) places.push_back(at + i);
  }

  static std::string_view view(const Sha256& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
  }

  /// The bytes of columns, by looking for them: bodies up to where they leave the page, kinds, hashes, keys, and the
  /// two times, which precede each kind. Not the types of columns: that of a row's number has a bit that means nothing.
  std::vector<std::size_t> content_places() const {
    std::vector<std::size_t> places;
    for (const auto& row : written_.rows) {
      const std::size_t body = bytes_.find(row->entry.body.substr(0, 200));
      for (std::size_t at = body - kNumberBytes - std::string_view("ServiceSet").size(); at < body + 200; ++at)
        places.push_back(at);
      if (row->entry.body.size() < 1000) add_places(view(row->hash), places);
    }
    for (const auto& outcome : written_.outcomes) {
      add_places(outcome->body, places);
      add_places(view(outcome->key), places);
    }
    for (const auto& snapshot : written_.snapshots) add_places(snapshot->body, places);
    for (const auto& row : written_.usage) add_places(row->body, places);
    for (const auto& part : written_.blob_parts) {
      add_places(part->bytes, places);
      add_places(view(part->blob), places);
    }
    return places;
  }

  testing::Scratch scratch_;
  std::string bytes_;
  Content written_;
};

TEST_F(BitRot, EveryFlipInTheContentOfARowIsFound) {
  const std::vector<std::size_t> places = content_places();
  Rng rng(1);
  const int flips = berth::testing::by_build(1000, 200);
  for (int i = 0; i < flips; ++i) {
    const std::size_t bit = 8 * places[rng.below(places.size())] + rng.below(8);
    flip(bit);
    EXPECT_FALSE(verify_sqlite_store(scratch_.database()).has_value()) << "bit " << bit;
    expect_nothing_wrong(bit);
    flip(bit);
  }
  fmt::print("bit rot: {} flips in {} bytes of content, all found\n", flips, places.size());
  EXPECT_TRUE(verify_sqlite_store(scratch_.database()).has_value());
}

TEST_F(BitRot, AFlipAnywhereIsFoundOrChangesNothing) {
  Rng rng(2);
  const int flips = berth::testing::by_build(1000, 200);
  int found = 0;
  for (int i = 0; i < flips; ++i) {
    const std::size_t bit = rng.below(8 * bytes_.size());
    flip(bit);
    if (!verify_sqlite_store(scratch_.database())) {
      ++found;
    } else {
      const auto content = read_all(scratch_.database());
      ASSERT_TRUE(content.has_value()) << bit;
      EXPECT_EQ(content->rows, written_.rows) << bit;
      EXPECT_EQ(content->outcomes, written_.outcomes) << bit;
      EXPECT_EQ(content->snapshots, written_.snapshots) << bit;
      EXPECT_EQ(content->usage, written_.usage) << bit;
      EXPECT_EQ(content->blobs, written_.blobs) << bit;
      EXPECT_EQ(content->blob_parts, written_.blob_parts) << bit;
    }
    expect_nothing_wrong(bit);
    flip(bit);
  }
  fmt::print("bit rot: {} flips anywhere in {} bytes, {} found, the others change nothing\n", flips, bytes_.size(),
             found);
}

TEST_F(BitRot, EveryPageOfZerosIsFound) {
  constexpr std::size_t kPageBytes = 4096;
  for (std::size_t at = 0; at < bytes_.size(); at += kPageBytes) {
    std::string damaged = bytes_;
    damaged.replace(at, kPageBytes, kPageBytes, '\0');
    std::ofstream(scratch_.database(), std::ios::binary) << damaged;
    EXPECT_FALSE(verify_sqlite_store(scratch_.database()).has_value()) << at;
    expect_nothing_wrong(at);
  }
}

}  // namespace
}  // namespace berth::edges
