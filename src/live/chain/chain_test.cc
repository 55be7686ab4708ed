#include "live/chain/chain.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>
#include <string>

#include "live/chain/field_hash.h"

namespace berth::chain {
namespace {

std::string hex(const Sha256& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(Chain, HashesAreSha256) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/// The encoding of a row, written out: a stored journal depends on it.
TEST(Chain, TheHashOfARowIsOverTheStatedBytes) {
  using namespace std::string_literals;
  const std::string bytes = "\5\0\0\0\0\0\0\0row 1"s + "\x20\0\0\0\0\0\0\0"s + std::string(32, '\0') +
                            "\1\0\0\0\0\0\0\0"s + "\xff\xff\xff\xff\xff\xff\xff\xff"s + "\2\1\0\0\0\0\0\0"s +
                            "\3\0\0\0\0\0\0\0abc"s + "\1\0\0\0\0\0\0\0"s + "\2\0\0\0\0\0\0\0{}"s;
  const JournalEntry entry{Instant(-1), 258, "abc", 1, "{}"};
  EXPECT_EQ(row_hash(Sha256{}, 1, entry), sha256(bytes));
}

TEST(Chain, EveryColumnCounts) {
  const JournalEntry entry{Instant(1), 2, "kind", 3, "body"};
  Sha256 other{};
  other[31] = 1;
  JournalEntry shifted = entry;
  shifted.kind = "kin";
  shifted.body = "dbody";
  const std::set<Sha256> rows = {row_hash({}, 1, entry),
                                 row_hash(other, 1, entry),
                                 row_hash({}, 2, entry),
                                 row_hash({}, 1, {Instant(2), 2, "kind", 3, "body"}),
                                 row_hash({}, 1, {Instant(1), 3, "kind", 3, "body"}),
                                 row_hash({}, 1, {Instant(1), 2, "kinds", 3, "body"}),
                                 row_hash({}, 1, {Instant(1), 2, "kind", 4, "body"}),
                                 row_hash({}, 1, {Instant(1), 2, "kind", 3, "bodz"}),
                                 row_hash({}, 1, shifted)};
  EXPECT_EQ(rows.size(), 9U);
  const std::set<Sha256> snapshots = {snapshot_hash({1, 1, "a"}), snapshot_hash({2, 1, "a"}),
                                      snapshot_hash({1, 2, "a"}), snapshot_hash({1, 1, "b"})};
  EXPECT_EQ(snapshots.size(), 4U);
  const std::set<Sha256> outcomes = {outcome_hash({{}, {}, 1, 200, "a"}),    outcome_hash({other, {}, 1, 200, "a"}),
                                     outcome_hash({{}, other, 1, 200, "a"}), outcome_hash({{}, {}, 2, 200, "a"}),
                                     outcome_hash({{}, {}, 1, 201, "a"}),    outcome_hash({{}, {}, 1, 200, "b"})};
  EXPECT_EQ(outcomes.size(), 6U);
}

}  // namespace
}  // namespace berth::chain
