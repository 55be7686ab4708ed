#include "sim/study/size_search.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace berth::study {
namespace {

/// For each count from 1 on, which seeds hold: 'y' or 'n', one letter per seed.
struct Truth {
  std::vector<std::string> by_count;
  std::map<std::int64_t, std::string> asked;

  CountJudge judge() {
    return [this](std::int64_t count, std::size_t seed_index) -> Result<Verdict> {
      std::string& seen = asked[count];
      EXPECT_EQ(seen.size(), seed_index) << "seeds in order, each once";
      const char letter = by_count.at(static_cast<std::size_t>(count - 1)).at(seed_index);
      seen += letter;
      return Verdict{.holds = letter == 'y', .work = 1};
    };
  }
};

SmallestCount found_in(Truth& truth, std::int64_t work_max = 1'000'000) {
  const auto judge = truth.judge();
  return *smallest_count(judge, {.count_max = static_cast<std::int64_t>(truth.by_count.size()),
                                 .seed_count = truth.by_count.front().size(),
                                 .work_max = work_max});
}

using BySeed = std::vector<std::optional<std::int64_t>>;

TEST(SizeSearch, TriesEveryCountUpToTheAnswerAndTheOneAbove) {
  Truth truth{{"n", "n", "n", "y", "n", "y"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.count, 4);
  EXPECT_TRUE(found.is_proven);
  const std::map<std::int64_t, std::string> expected = {{1, "n"}, {2, "n"}, {3, "n"}, {4, "y"}, {5, "n"}};
  EXPECT_EQ(truth.asked, expected);
}

TEST(SizeSearch, TheFirstSeedThatFailsEndsACountButBelowTheAnswerAllAreAsked) {
  Truth truth{{"nnn", "nnn", "yyy", "nyy"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.is_stable, true);
  EXPECT_EQ(found.count_by_seed, (BySeed{3, 3, 3}));
  EXPECT_EQ(truth.asked[1], "nnn");
  EXPECT_EQ(truth.asked[2], "nnn");
  EXPECT_EQ(truth.asked[4], "n");
}

TEST(SizeSearch, IsUnstableWhereOneSeedAloneNeedsFewerHoweverFarBelow) {
  Truth truth{{"nny", "nnn", "nyn", "nnn", "nnn", "yyy", "yyy"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.count, 6);
  EXPECT_EQ(found.is_stable, false);
  EXPECT_EQ(found.count_by_seed, (BySeed{6, 3, 1}));
}

TEST(SizeSearch, OneSeedSaysNothingOfStability) {
  Truth truth{{"n", "y"}, {}};
  const SmallestCount found = found_in(truth);
  EXPECT_EQ(found.is_stable, std::nullopt);
  EXPECT_EQ(found.count_by_seed, BySeed{2});
}

TEST(SizeSearch, NoneIsProvenWhereAllWereTried) {
  Truth none{{"n", "n", "n", "n", "n"}, {}};
  const SmallestCount found = found_in(none);
  EXPECT_EQ(found.count, std::nullopt);
  EXPECT_TRUE(found.is_proven);
  EXPECT_TRUE(found.count_by_seed.empty());
  EXPECT_EQ(none.asked.size(), 5);
}

TEST(SizeSearch, BeyondItsWorkItGoesOnByAGridAndBisection) {
  Truth truth{std::vector<std::string>(40, "n"), {}};
  for (std::size_t count = 22; count <= 40; ++count) truth.by_count[count - 1] = "y";
  const SmallestCount found = found_in(truth, 3);
  EXPECT_EQ(found.count, 22);
  EXPECT_FALSE(found.is_proven);
  EXPECT_EQ(found.count_by_seed, BySeed{std::nullopt});
  std::vector<std::int64_t> asked;
  asked.reserve(truth.asked.size());
  for (const auto& [count, unused] : truth.asked) asked.push_back(count);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 21, 22, 23, 24}));
}

TEST(SizeSearch, BeyondItsWorkItStillLooksAtTheNeighboursWithEverySeed) {
  Truth truth{{"nn", "nn", "nn", "nn", "nn", "nn", "nn", "nn", "ny", "yy", "yy"}, {}};
  const SmallestCount found = found_in(truth, 1);
  EXPECT_EQ(found.count, 10);
  EXPECT_EQ(truth.asked[9], "ny");
  EXPECT_EQ(found.is_stable, false);
  Truth unknown{{"nn", "nn", "nn", "nn", "nn", "yy", "yy"}, {}};
  EXPECT_EQ(found_in(unknown, 1).is_stable, std::nullopt) << "1 to 3 were not tried with the second seed";
}

TEST(SizeSearch, NoneOfThoseTriedIsNotProven) {
  Truth truth{std::vector<std::string>(9, "n"), {}};
  truth.by_count[8] = "y";  // not on the grid
  const SmallestCount found = found_in(truth, 2);
  EXPECT_EQ(found.count, std::nullopt);
  EXPECT_FALSE(found.is_proven);
}

TEST(SizeSearch, OneMayBeEnoughAndOneMayBeAll) {
  Truth one{{"y", "y", "y"}, {}};
  EXPECT_EQ(found_in(one).count, 1);
  Truth only{{"y"}, {}};
  EXPECT_EQ(found_in(only).count, 1);
  EXPECT_TRUE(found_in(only = {{"y"}, {}}).is_proven);
  Truth nothing{{"n"}, {}};
  EXPECT_EQ(found_in(nothing).count, std::nullopt);
}

TEST(SizeSearch, PassesTheErrorOnAndAsksNoMore) {
  int asked = 0;
  const CountJudge judge = [&](std::int64_t, std::size_t) -> Result<Verdict> {
    if (++asked == 3) return fail(ErrorCode::kInterrupted, "interrupted");
    return Verdict{.holds = false, .work = 1};
  };
  const auto found = smallest_count(judge, {.count_max = 64, .seed_count = 3, .work_max = 1'000});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace berth::study
