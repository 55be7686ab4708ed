#include "base/core/chunked_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "base/core/rng.h"

namespace berth {
namespace {

using ChunkedWords = ChunkedList<std::string, 2>;
using ChunkedNumbers = ChunkedList<int, 4>;

static_assert(std::ranges::random_access_range<const ChunkedWords>);
static_assert(std::ranges::random_access_range<ChunkedNumbers>);

TEST(ChunkedList, IsAListOfValues) {
  ChunkedWords words = {"a", "b", "c"};
  words.push_back("d");
  EXPECT_EQ(words.size(), 4U);
  EXPECT_EQ(words.front(), "a");
  EXPECT_EQ(words.back(), "d");
  EXPECT_EQ(words[2], "c");
  EXPECT_EQ(words, ChunkedWords(std::vector<std::string>{"a", "b", "c", "d"}));
  words.change(1) = "z";
  words.pop_front();
  words.pop_back();
  EXPECT_EQ(words, (ChunkedWords{"z", "c"}));
  words.clear();
  EXPECT_TRUE(words.empty());
  EXPECT_EQ(words.begin(), words.end());
}

TEST(ChunkedList, CopiesShareWhatDidNotChange) {
  ChunkedNumbers before;
  for (int value = 0; value < 12; ++value) before.push_back(value);
  ChunkedNumbers after = before;
  after.change(5) = 50;
  EXPECT_EQ(before[5], 5);
  EXPECT_EQ(after[5], 50);
  EXPECT_TRUE(after.shares(before, 0));
  EXPECT_FALSE(after.shares(before, 5));
  EXPECT_TRUE(after.shares(before, 8));
}

TEST(ChunkedList, IsSearchedLikeAVector) {
  const ChunkedNumbers numbers = {1, 3, 3, 3, 5, 7, 7, 9};
  const auto threes = std::ranges::equal_range(numbers, 3);
  EXPECT_EQ(std::ranges::distance(threes), 3);
  EXPECT_EQ(threes.begin().index(), 1U);
  EXPECT_EQ(std::lower_bound(numbers.begin(), numbers.end(), 6).index(), 5U);
  EXPECT_EQ(numbers.end() - numbers.begin(), 8);
  EXPECT_EQ(*(numbers.end() - 2), 7);
  EXPECT_EQ(*std::prev(numbers.end()), 9);
  EXPECT_EQ(numbers.begin()[4], 5);
  EXPECT_LT(numbers.begin(), numbers.end());
}

/// A list, its copies, and vectors that must hold the same.
class Pair {
 public:
  void change(Rng& rng, int value) {
    const std::size_t size = model_.size();
    const std::size_t place = rng.below(size + 1);
    switch (rng.below(8)) {
      case 0:
      case 1:
      case 2:
        list_.insert(at(place), value);
        model_.insert(model_.begin() + static_cast<std::ptrdiff_t>(place), value);
        break;
      case 3:
        list_.push_back(value);
        model_.push_back(value);
        break;
      case 4:
        if (size == 0) break;
        list_.pop_front();
        model_.erase(model_.begin());
        break;
      case 5:
        if (place == size) break;
        list_.change(place) = value;
        model_[place] = value;
        break;
      case 6: {
        const std::size_t end = place + rng.below(size - place + 1);
        list_.erase(at(place), at(end));
        model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(place),
                     model_.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      }
      default: {
        const int divisor = 2 + static_cast<int>(rng.below(9));
        const auto is_gone = [divisor](int each) { return each % divisor == 0; };
        erase_if(list_, is_gone);
        std::erase_if(model_, is_gone);
      }
    }
  }
  void expect_same() const {
    ASSERT_EQ(list_.size(), model_.size());
    EXPECT_TRUE(std::ranges::equal(list_, model_));
    EXPECT_TRUE(std::ranges::equal(list_ | std::views::reverse, model_ | std::views::reverse));
    for (std::size_t i = 0; i < model_.size(); ++i) ASSERT_EQ(list_[i], model_[i]);
  }

 private:
  [[nodiscard]] ChunkedNumbers::const_iterator at(std::size_t place) const {
    return list_.begin() + static_cast<std::ptrdiff_t>(place);
  }

  ChunkedNumbers list_;
  std::vector<int> model_;
};

TEST(ChunkedList, ManyChangesOfManyCopiesAgreeWithVectors) {
  Rng rng(7);
  std::vector<Pair> pairs(4);
  for (int round = 0; round < 4000; ++round) {
    Pair& changed = pairs[rng.below(pairs.size())];
    changed.change(rng, round);
    changed.expect_same();
    if (rng.below(20) == 0) pairs[rng.below(pairs.size())] = changed;
    for (const Pair& pair : pairs) pair.expect_same();
  }
}

TEST(ChunkedList, AReaderKeepsItsVersionWhileTheWriterGoesOn) {
  ChunkedNumbers numbers;
  for (int value = 0; value < 1000; ++value) numbers.push_back(1);
  std::vector<std::thread> readers;
  for (int round = 0; round < 50; ++round) {
    readers.emplace_back([seen = numbers, expected = 1000 + round] {
      int sum = 0;
      for (const int value : seen) sum += value;
      EXPECT_EQ(sum, expected);
    });
    ++numbers.change(static_cast<std::size_t>(round) * 20);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace berth
