#include "ledger/books/detail/id_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/rng.h"

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
  // The lowest bits give the slot, and the last slots wrap around to the first.
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

std::string saved(const IdTable& table) {
  std::string bytes;
  table.save([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

TEST(IdTable, WhatWasSavedIsFoundInFrontOfWhatComesLater) {
  IdTable first;
  for (std::uint64_t position = 0; position < 50; ++position) first.insert(42, position);
  first.insert(0, 100);
  first.insert(UINT64_MAX, 101);
  const std::string bytes = saved(first);
  IdTable second;
  second.restore(bytes);
  second.insert(42, 60);
  second.insert(43, 61);
  std::vector<std::uint64_t> wanted(50);
  std::iota(wanted.begin(), wanted.end(), std::uint64_t{0});
  wanted.push_back(60);
  EXPECT_EQ(positions_of(second, 42), wanted);
  EXPECT_EQ(positions_of(second, 0), std::vector<std::uint64_t>{100});
  EXPECT_EQ(positions_of(second, UINT64_MAX), std::vector<std::uint64_t>{101});
  EXPECT_EQ(positions_of(second, 43), std::vector<std::uint64_t>{61});
  EXPECT_EQ(positions_of(second, 41), std::vector<std::uint64_t>{});
  IdTable empty;
  empty.restore(saved(IdTable()));
  EXPECT_EQ(empty.find(42, kAny), IdTable::kNowhere);
}

/// Which hashes there are: `count` of them, `stride` apart.
struct HashCase {
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
};

/// Saved repeatedly, with hashes that are spread evenly, clustered, or shared by many.
TEST(IdTable, SavingInStepsIsSavingAtOnce) {
  const std::vector<HashCase> cases = {
      {UINT64_MAX, 1}, {1U << 20U, 1}, {10, 1}, {50, UINT64_MAX / 50}, {500, UINT64_MAX / 5000}};
  for (const HashCase& hashes : cases) {
    Rng rng(hashes.count);
    IdTable whole;
    std::string bytes;
    std::multimap<std::uint64_t, std::uint64_t> plain;
    for (std::uint64_t step = 0; step < 5; ++step) {
      IdTable table;
      table.restore(bytes);
      for (std::uint64_t i = 0; i < 700; ++i) {
        const std::uint64_t hash = rng.below(hashes.count) * hashes.stride;
        table.insert(hash, step * 700 + i);
        whole.insert(hash, step * 700 + i);
        plain.emplace(hash, step * 700 + i);
      }
      const std::string next = saved(table);
      EXPECT_EQ(next, saved(whole));
      bytes = next;
    }
    IdTable table;
    table.restore(bytes);
    for (const auto& [hash, position] : plain) {
      const std::vector<std::uint64_t> found = positions_of(table, hash);
      ASSERT_EQ(found.size(), plain.count(hash));
      ASSERT_NE(std::ranges::find(found, position), found.end());
      ASSERT_EQ(positions_of(table, hash + 1).size(), plain.count(hash + 1));
    }
  }
}

TEST(IdTable, EqualIdsHaveEqualHashes) {
  EXPECT_EQ(IdTable::hash_of("abc"), IdTable::hash_of(std::string("xabc").substr(1)));
  EXPECT_NE(IdTable::hash_of("abc"), IdTable::hash_of("abd"));
  EXPECT_NE(IdTable::hash_of(""), IdTable::hash_of(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace berth::ledger::detail
