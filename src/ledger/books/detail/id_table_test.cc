#include "ledger/books/detail/id_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"

namespace berth::ledger::detail {
namespace {

constexpr auto kAny = [](std::uint64_t) { return true; };

/// The positions under a hash, in the order in which a search meets them.
std::vector<std::uint64_t> positions_of(const IdTable& table, std::uint64_t hash) {
  std::vector<std::uint64_t> positions;
  const std::uint64_t found = table.find(hash, [&](std::uint64_t position) {
    positions.push_back(position);
    return false;
  });
  EXPECT_EQ(found, IdTable::kNowhere);
  return positions;
}

TEST(IdTable, FindsWhatWasInserted) {
  IdTable table;
  EXPECT_EQ(table.find(7, kAny), IdTable::kNowhere);
  table.insert(7, 100);
  table.insert(8, 0);  // a position, too
  EXPECT_EQ(table.find(7, kAny), 100U);
  EXPECT_EQ(table.find(8, kAny), 0U);
  EXPECT_EQ(table.find(9, kAny), IdTable::kNowhere);
  EXPECT_EQ(table.find(7, [](std::uint64_t) { return false; }), IdTable::kNowhere);
}

TEST(IdTable, IdsMayShareAHash) {
  IdTable table;
  for (std::uint64_t position = 0; position < 2'000; ++position) table.insert(42, position);
  for (std::uint64_t position = 0; position < 2'000; position += 111) {
    EXPECT_EQ(table.find(42, [&](std::uint64_t found) { return found == position; }), position);
  }
  std::vector<std::uint64_t> positions = positions_of(table, 42);
  std::ranges::sort(positions);
  EXPECT_EQ(positions.size(), 2'000U);
  EXPECT_EQ(positions.front(), 0U);
  EXPECT_EQ(positions.back(), 1'999U);
}

TEST(IdTable, HashesThatShareASlotAreNotMistaken) {
  IdTable table;
  // The lowest bits say where, and the last slots go on at the first ones.
  const std::vector<std::uint64_t> hashes = {1023, 1023 + (1U << 10U), 1023 + (1U << 20U), 1022,
                                             0,    1U << 30U,          UINT64_MAX};
  for (std::size_t i = 0; i < hashes.size(); ++i) table.insert(hashes[i], i);
  for (std::size_t i = 0; i < hashes.size(); ++i)
    EXPECT_EQ(positions_of(table, hashes[i]), std::vector<std::uint64_t>{i});
  EXPECT_EQ(table.find(1021, kAny), IdTable::kNowhere);
  EXPECT_EQ(table.find(1023 + (1U << 11U), kAny), IdTable::kNowhere);
}

TEST(IdTable, KeepsThemAsItGrows) {
  Rng rng(1);
  std::vector<std::uint64_t> hashes;
  IdTable table;
  for (std::uint64_t position = 0; position < 30'000; ++position) {
    hashes.push_back(rng());
    table.insert(hashes.back(), position);
    const std::uint64_t earlier = rng.below(position + 1);
    ASSERT_EQ(table.find(hashes[earlier], kAny), earlier);
  }
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(table.find(rng(), kAny), IdTable::kNowhere);
}

TEST(IdTable, EqualIdsHaveEqualHashes) {
  EXPECT_EQ(IdTable::hash_of("abc"), IdTable::hash_of(std::string("xabc").substr(1)));
  EXPECT_NE(IdTable::hash_of("abc"), IdTable::hash_of("abd"));
  EXPECT_NE(IdTable::hash_of(""), IdTable::hash_of(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace berth::ledger::detail
