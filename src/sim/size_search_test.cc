#include "sim/size_search.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace berth::sim {
namespace {

/// For each count from 1 on, which seeds hold: 'y' or 'n', one letter a seed.
struct Truth {
  std::vector<std::string> by_count;
  std::map<std::int64_t, std::string> asked;

  CountJudge judge() {
    return [this](std::int64_t count, std::size_t seed_index) -> Result<bool> {
      std::string& seen = asked[count];
      EXPECT_EQ(seen.size(), seed_index) << "seeds in order, each once";
      const char letter = by_count.at(static_cast<std::size_t>(count - 1)).at(seed_index);
      seen += letter;
      return letter == 'y';
    };
  }
};

SmallestCount found_in(Truth& truth) {
  const auto judge = truth.judge();
  return *smallest_count(judge, {.count_max = static_cast<std::int64_t>(truth.by_count.size()),
                                 .seed_count = truth.by_count.front().size()});
}

TEST(SizeSearch, DoublesBisectsAndLooksAround) {
  Truth truth{{"n", "n", "n", "n", "n", "y", "y", "y", "y", "y"}, {}};
  EXPECT_EQ(found_in(truth).count, 6);
  const std::map<std::int64_t, std::string> expected = {{1, "n"}, {2, "n"}, {4, "n"}, {5, "n"},
                                                        {6, "y"}, {7, "y"}, {8, "y"}};
  EXPECT_EQ(truth.asked, expected);
}

TEST(SizeSearch, StopsAtTheFirstSeedThatFailsButBelowTheAnswerAsksAll) {
  Truth truth{{"nnn", "nnn", "nnn", "nnn", "nnn", "yyy", "yyy", "yyy"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.count, 6);
  EXPECT_EQ(found.is_stable, true);
  EXPECT_EQ(truth.asked[1], "n");
  EXPECT_EQ(truth.asked[4], "nnn");
  EXPECT_EQ(truth.asked[5], "nnn");
}

TEST(SizeSearch, IsUnstableWhereOneSeedAloneNeedsFewer) {
  Truth truth{{"nnn", "nnn", "nyn", "yyy", "yyy"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.count, 4);
  EXPECT_EQ(found.is_stable, false);
}

TEST(SizeSearch, OneSeedSaysNothingOfStability) {
  Truth truth{{"n", "y"}, {}};
  EXPECT_EQ(found_in(truth).is_stable, std::nullopt);
}

TEST(SizeSearch, GoesOnFromASmallerCountThatHolds) {
  // Bisection between 4 and 8 ends at 7; 5 holds all the same, and 4 below it does not.
  Truth truth{{"n", "n", "y", "n", "y", "n", "y", "y", "y"}, {}};
  EXPECT_EQ(found_in(truth).count, 3);
}

TEST(SizeSearch, TriesTheLargestCountAndItsNeighbours) {
  Truth none{{"n", "n", "n", "n", "n", "n", "n"}, {}};
  EXPECT_EQ(found_in(none).count, std::nullopt);
  EXPECT_EQ(none.asked.rbegin()->first, 7);
  Truth last{{"n", "n", "n", "n", "n", "n", "y"}, {}};
  EXPECT_EQ(found_in(last).count, 7);
  Truth neighbour{{"n", "n", "n", "n", "y", "n"}, {}};
  EXPECT_EQ(found_in(neighbour).count, 5);
}

TEST(SizeSearch, OneMayBeEnoughAndOneMayBeAll) {
  Truth one{{"y", "y", "y"}, {}};
  EXPECT_EQ(found_in(one).count, 1);
  Truth only{{"y"}, {}};
  EXPECT_EQ(found_in(only).count, 1);
  Truth nothing{{"n"}, {}};
  EXPECT_EQ(found_in(nothing).count, std::nullopt);
}

TEST(SizeSearch, PassesTheErrorOnAndAsksNoMore) {
  int asked = 0;
  const CountJudge judge = [&](std::int64_t, std::size_t) -> Result<bool> {
    if (++asked == 3) return fail(ErrorCode::kInterrupted, "interrupted");
    return false;
  };
  const auto found = smallest_count(judge, {.count_max = 64, .seed_count = 3});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace berth::sim
