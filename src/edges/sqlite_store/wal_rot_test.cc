/// Flips single bits of a WAL, and empties blocks of it, as a kill leaves it: each is detected, or the same rows are
/// returned. Only the last transaction may be missing: damage there looks like an interrupted write.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameBytes = 24 + 4096;

JournalBatch varied_batch_of(int number) {
  JournalBatch batch;
  for (int row = 0; row < 1 + number % 3; ++row) {
    const std::string body =
        fmt::format("<row {} of {}{}>", row, number, std::string(number % 7 == 0 ? 5000 : 50, '.'));
    batch.entries.push_back({Instant(number), number, "Test", 1, body});
  }
  return batch;
}

class WalRot : public ::testing::Test {
 protected:
  /// Appends batches, and copies the files while they are open. `checkpoint_pages`: as in SqliteStoreOptions.
  void make(int batch_count, int checkpoint_pages) {
    const testing::Scratch made;
    auto opened = open_sqlite_store(made.database(), {.vfs = {}, .checkpoint_pages = checkpoint_pages});
    ASSERT_TRUE(opened.has_value());
    const auto writer = opened->store->open_writer(1).value();
    for (int number = 1; number <= batch_count; ++number) {
      rows_before_last_ = rows_;
      last_begins_ = fs::file_size(made.database() + "-wal");
      rows_ = writer->append(varied_batch_of(number)).value();
    }
    fs::copy(made.database(), scratch_.database());
    std::ifstream file(made.database() + "-wal", std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    write();
    ASSERT_EQ(rows_found(), rows_);
  }

  [[nodiscard]] std::string wal() const { return scratch_.database() + "-wal"; }
  void write() const { std::ofstream(wal(), std::ios::binary) << bytes_; }
  void flip(std::size_t bit) {
    bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] ^ (1 << (bit % 8)));
    std::fstream file(wal(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(bit / 8));
    file.put(bytes_[bit / 8]);
  }

  /// Absent if something wrong was found, which readers and writers must refuse alike, without a change.
  [[nodiscard]] std::optional<std::uint64_t> rows_found() const {
    const auto counts = verify_sqlite_store(scratch_.database());
    if (counts) return counts->rows;
    EXPECT_EQ(counts.error().fault, StoreFault::kDamaged) << counts.error().message;
    return std::nullopt;
  }

  /// Whether it was found.
  bool expect_found_or_harmless(std::size_t place) {
    const auto found = rows_found();
    if (found && *found != rows_) {
      EXPECT_EQ(*found, rows_before_last_) << place;
      ++last_dropped_;
    }
    return !found;
  }

  /// Expects that readers and writers refuse it with these words, and that nothing is changed.
  void expect_refused(const std::string& words) const {
    const auto expect = [&](const auto& result) {
      ASSERT_FALSE(result.has_value());
      EXPECT_EQ(result.error().fault, StoreFault::kDamaged);
      EXPECT_EQ(result.error().message, wal() + ": " + words + "; restore it from a copy");
    };
    const auto written = fs::last_write_time(scratch_.database());
    expect(open_sqlite_store(scratch_.database()));
    expect(is_sqlite_store_new(scratch_.database()));
    expect(open_sqlite_reader(scratch_.database()));
    expect(verify_sqlite_store(scratch_.database()));
    std::ifstream file(wal(), std::ios::binary);
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(file), {}) == bytes_);
    EXPECT_EQ(fs::last_write_time(scratch_.database()), written);
  }

  void flip_anywhere(std::uint64_t seed) {
    Rng rng(seed);
    const int flips = berth::testing::by_build(500, 100);
    int found = 0;
    for (int i = 0; i < flips; ++i) {
      const std::size_t bit = rng.below(8 * bytes_.size());
      flip(bit);
      if (expect_found_or_harmless(bit)) ++found;
      flip(bit);
    }
    fmt::print("bit rot: {} flips in {} bytes of a WAL, {} found, {} left out the last transaction\n", flips,
               bytes_.size(), found, last_dropped_);
    EXPECT_GT(found, 0);
    EXPECT_LT(last_dropped_, flips / 5);
  }

  testing::Scratch scratch_;
  std::string bytes_;
  std::uint64_t rows_ = 0;
  std::uint64_t rows_before_last_ = 0;
  std::uint64_t last_begins_ = 0;  ///< the offset of the last transaction, in a WAL that has been used once
  int last_dropped_ = 0;
};

TEST_F(WalRot, AFlipBeforeTheLastTransactionIsFound) {
  make(40, 100'000);
  flip_anywhere(1);
}

TEST_F(WalRot, AFlipWithFramesOfAnEarlierUseBehindIsFoundOrHarmless) {
  make(85, 60);
  flip_anywhere(2);
}

TEST_F(WalRot, EveryFlipInAHeaderIsFoundOrHarmless) {
  make(12, 100'000);
  for (std::size_t at = 0; at < kHeaderBytes + 24; ++at) {
    const std::size_t bit = 8 * at + at % 8;
    flip(bit);
    EXPECT_TRUE(expect_found_or_harmless(bit)) << bit;
    flip(bit);
  }
  for (std::size_t frame = 0; kHeaderBytes + frame * kFrameBytes < bytes_.size(); ++frame) {
    for (std::size_t byte = 0; byte < 24; byte += 3) {
      const std::size_t bit = 8 * (kHeaderBytes + frame * kFrameBytes + byte) + frame % 8;
      flip(bit);
      expect_found_or_harmless(bit);
      flip(bit);
    }
  }
}

TEST_F(WalRot, BlocksOfZerosAreFound) {
  constexpr std::size_t kBlockBytes = 4096;
  make(40, 100'000);
  const std::string whole = bytes_;
  // Not where the header of the last frame before goes, too: nothing shows then that it ended a commit.
  for (std::size_t at = 0; at + kBlockBytes <= last_begins_ - kFrameBytes; at += kBlockBytes) {
    bytes_.replace(at, kBlockBytes, kBlockBytes, '\0');
    write();
    EXPECT_FALSE(rows_found().has_value()) << at;
    bytes_ = whole;
  }
}

TEST_F(WalRot, TheRefusalNamesTheFrame) {
  make(12, 100'000);
  flip(8 * (kHeaderBytes + 4 * kFrameBytes + 1000));
  expect_refused("frame 5 is not what was written, and commits stand behind it");
  flip(8 * (kHeaderBytes + 4 * kFrameBytes + 1000));
  flip(std::size_t{8} * 20);
  expect_refused("its header is not what was written, and commits stand behind it");
}

/// A power cut while the header is rewritten leaves such a WAL.
TEST_F(WalRot, AHeaderThatWasBegunAnewIsHarmlessWhereAllPagesWereCopied) {
  make(12, 100'000);
  {
    auto opened = open_sqlite_store(scratch_.database());
    ASSERT_TRUE(opened.has_value());
  }
  write();  // back again, though all of it is in the file now
  for (std::size_t at = 0; at < kHeaderBytes; ++at) bytes_[at] = static_cast<char>(17 * at + 3);
  write();
  EXPECT_EQ(rows_found(), rows_);
}

}  // namespace
}  // namespace berth::edges
