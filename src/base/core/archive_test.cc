#include "base/core/archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/core/decimal.h"
#include "base/core/index.h"
#include "base/core/instant.h"
#include "base/core/rng.h"

namespace berth {
namespace {

enum class Colour : std::uint8_t { kRed, kGreen };

struct Leaf {
  int number = 0;
  std::string text;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

/// A value of every kind that the archive knows.
struct Tree {
  bool is_tall = false;
  Colour colour = Colour::kRed;
  std::int64_t least = 0;
  std::uint64_t most = 0;
  std::uint16_t small = 0;
  char letter = 'a';
  float rough = 0;
  double fine = 0;
  std::optional<Leaf> maybe;
  std::optional<Leaf> never;
  std::pair<int, std::string> pair;
  std::tuple<int, double, bool> three;
  std::array<std::array<double, 2>, 2> grid{};
  std::vector<Leaf> leaves;
  std::deque<int> queue;
  std::map<std::string, std::vector<int>> map;
  std::set<Instant> instants;
  std::variant<int, Leaf, std::string> either;
  Decimal decimal;
  Micros micros;
  friend bool operator==(const Tree&, const Tree&) = default;
};

Tree full_tree() {
  return {.is_tall = true,
          .colour = Colour::kGreen,
          .least = std::numeric_limits<std::int64_t>::min(),
          .most = std::numeric_limits<std::uint64_t>::max(),
          .small = 65'535,
          .letter = '\xff',
          .rough = 1.1F,
          .fine = 1.0 / 3,
          .maybe = Leaf{.number = -7, .text = "leaf"},
          .never = std::nullopt,
          .pair = {-1, "pair"},
          .three = {64, -0.5, true},
          .grid = {{{1, 2}, {3, 4}}},
          .leaves = {{.number = 1, .text = ""}, {.number = 128, .text = std::string("\0x", 2)}},
          .queue = {300, -300},
          .map = {{"a", {1}}, {"b", {}}},
          .instants = {Instant(-5), Instant::never()},
          .either = Leaf{.number = 9, .text = "case"},
          .decimal = Decimal(-22, 7),
          .micros = Micros::seconds(3)};
}

TEST(Archive, ReadsWhatWasWritten) {
  for (const Tree& tree : {Tree(), full_tree()}) {
    const auto read = from_bytes<Tree>(bytes_of(tree));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, tree);
  }
}

TEST(Archive, ReadsListsThatShareTheirValues) {
  const ChunkedList<int> chunked(std::vector<int>(1000, 7));
  EXPECT_EQ((from_bytes<ChunkedList<int>>(bytes_of(chunked))), chunked);
  const SharedList<std::string> shared = {"a", "", "b"};
  EXPECT_EQ(from_bytes<SharedList<std::string>>(bytes_of(shared)), shared);
  EXPECT_EQ(**from_bytes<SharedValue<std::string>>(bytes_of(SharedValue<std::string>("x"))), "x");
  const auto pointer = std::make_shared<const Leaf>(Leaf{.number = 3, .text = "p"});
  EXPECT_EQ(**from_bytes<std::shared_ptr<const Leaf>>(bytes_of(pointer)), *pointer);
  using Place = Index<struct PlaceTag>;
  EXPECT_EQ(from_bytes<Place>(bytes_of(Place(-1))), Place(-1));
}

TEST(Archive, KeepsEveryBitOfFloatingPointNumbers) {
  const std::vector<double> numbers = {0.0,
                                       -0.0,
                                       1e-320,
                                       std::nextafter(1.0, 2.0),
                                       std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN()};
  const auto read = from_bytes<std::vector<double>>(bytes_of(numbers));
  ASSERT_TRUE(read && read->size() == numbers.size());
  EXPECT_EQ(std::memcmp(read->data(), numbers.data(), numbers.size() * sizeof(double)), 0);
}

TEST(Archive, SmallIntegersAreShort) {
  EXPECT_EQ(bytes_of(std::uint64_t{127}).size(), 1U);
  EXPECT_EQ(bytes_of(std::uint64_t{128}).size(), 2U);
  EXPECT_EQ(bytes_of(-64).size(), 1U);
  EXPECT_EQ(bytes_of(std::numeric_limits<std::int64_t>::min()).size(), 10U);
}

/// The bytes of a value of one type, read as another.
template <class As>
bool reads_as(const auto& value) {
  return from_bytes<As>(bytes_of(value)).has_value();
}

TEST(Archive, RefusesWhatNobodyWrote) {
  EXPECT_FALSE(reads_as<std::uint8_t>(256));
  EXPECT_FALSE(reads_as<std::uint16_t>(std::uint64_t{65'536}));
  EXPECT_FALSE(reads_as<std::int32_t>(std::int64_t{1} << 31));
  EXPECT_FALSE(reads_as<bool>(std::uint64_t{2}));
  EXPECT_FALSE((reads_as<std::variant<int, bool>>(std::pair<std::uint64_t, int>(2, 0))));
  EXPECT_FALSE(reads_as<std::set<int>>(std::vector<int>{2, 1})) << "not ascending";
  EXPECT_FALSE(reads_as<std::set<int>>(std::vector<int>{1, 1})) << "twice";
  EXPECT_FALSE(reads_as<std::string>(std::uint64_t{1} << 40)) << "longer than the bytes";
  EXPECT_FALSE(reads_as<std::vector<double>>(std::uint64_t{1} << 40));
  EXPECT_FALSE(reads_as<int>(std::pair(1, 1))) << "something is left";
  EXPECT_FALSE(from_bytes<std::uint64_t>("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").has_value()) << "65 bits";
  for (const char* fraction : {"", "1", "1/0", "1/-2", "2/4", "/1", "1/", "-/1", "01/2", "-0/1", "1/2/3", "+1/2"}) {
    EXPECT_FALSE(reads_as<Decimal>(std::string(fraction))) << fraction;
  }
}

TEST(Archive, RunsOfEqualNumbersAreShort) {
  std::vector<double> numbers(1000, 0.0);
  numbers[500] = -0.0;
  numbers[501] = 4;
  ArchiveWriter writer;
  writer(runs_of(numbers));
  EXPECT_LT(writer.bytes().size(), 50U);
  std::vector<double> read(1000, 1.0);
  ArchiveReader reader(writer.bytes());
  reader(runs_of(read));
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(std::memcmp(read.data(), numbers.data(), numbers.size() * sizeof(double)), 0);
  for (const std::size_t wrong : {999, 1001}) {
    std::vector<double> other(wrong, 1.0);
    ArchiveReader fails(writer.bytes());
    fails(runs_of(other));
    EXPECT_FALSE(fails.is_at_end()) << wrong;
  }
}

TEST(Archive, AReaderThatFailedReadsNothingMore) {
  const std::string bytes = bytes_of(std::tuple(1, 300, 2));
  ArchiveReader reader(bytes);
  int first = 0;
  std::uint8_t second = 9;
  int third = 9;
  reader(first, second, third);
  EXPECT_TRUE(reader.has_failed());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 9);
  EXPECT_EQ(third, 9);
  EXPECT_FALSE(reader.require(true));
}

TEST(Archive, DamagedBytesGiveFailureOrAnotherValue) {
  const std::string whole = bytes_of(full_tree());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(from_bytes<Tree>(whole.substr(0, size)).has_value()) << size;
  }
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = whole;
    for (std::uint64_t flips = 1 + rng.below(3); flips > 0; --flips) {
      char& byte = damaged[rng.below(damaged.size())];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << rng.below(8)));
    }
    const auto read = from_bytes<Tree>(damaged);
    if (read) {
      EXPECT_TRUE(from_bytes<Tree>(bytes_of(*read)).has_value());
    }
  }
}

}  // namespace
}  // namespace berth
