#include "planner/transition/detail/cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "planner/transition/detail/test_cases.h"

namespace berth::transition::detail {
namespace {

constexpr std::uint64_t kCoverCases = berth::testing::by_build(3000, 300);

Rate drawn_rate(Rng& rng, Rate low, Rate high) {
  return low + static_cast<Rate>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

std::vector<SliceRates> drawn_items(Rng& rng, std::uint64_t count_max, int percent_tunable) {
  std::vector<SliceRates> items;
  for (std::uint64_t i = rng.below(count_max + 1); i > 0; --i) {
    SliceRates item;
    item.low = item.best = drawn_rate(rng, 1, 5);
    if (rng.below(100) < static_cast<std::uint64_t>(percent_tunable)) item.best += drawn_rate(rng, 0, 4);
    items.push_back(item);
  }
  return items;
}

bool is_tight(Rate need, const std::vector<SliceRates>& items, const std::vector<bool>& is_best) {
  std::vector<SliceRates> chosen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Rate rate = is_best[i] ? items[i].best : items[i].low;
    chosen.push_back({rate, rate});
  }
  return is_tight_somehow(need, chosen);
}

/// The fewest items at their best points, by trying all choices.
std::optional<std::int64_t> fewest_tuned(Rate need, const std::vector<SliceRates>& items) {
  std::optional<std::int64_t> fewest;
  for (std::uint32_t chosen = 0; chosen < (1U << items.size()); ++chosen) {
    std::vector<bool> is_best;
    for (std::size_t i = 0; i < items.size(); ++i) is_best.push_back(((chosen >> i) & 1U) != 0);
    if (is_tight(need, items, is_best)) fewest = std::min<std::int64_t>(fewest.value_or(32), std::popcount(chosen));
  }
  return fewest;
}

TEST(Tune, AgreesWithTryingAllChoices) {
  int found = 0;
  int refused = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCoverCases)) {
    Rng rng = Rng(seed).split("tune");
    const std::vector<SliceRates> items = drawn_items(rng, 8, 60);
    const Rate need = drawn_rate(rng, 1, 24);
    const auto fewest = fewest_tuned(need, items);
    const auto tuned = tune(need, items);
    ASSERT_EQ(tuned.has_value(), fewest.has_value()) << "seed " << seed;
    ++(tuned ? found : refused);
    if (!tuned) continue;
    ASSERT_TRUE(is_tight(need, items, *tuned)) << "seed " << seed;
    ASSERT_EQ(std::ranges::count(*tuned, true), *fewest) << "seed " << seed;
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(refused, 0);
}

TEST(Tune, ManyItemsThatItTunesMeetTheNeed) {
  int tuned_some = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCoverCases / 10)) {
    Rng rng = Rng(seed).split("many");
    std::vector<SliceRates> items;
    Rate low = 0;
    for (int i = 0; i < 16; ++i) {
      items.push_back({drawn_rate(rng, 1, 5), 0});
      items.back().best = items.back().low + drawn_rate(rng, 1, 5);
      low += items.back().low;
    }
    const Rate need = low + drawn_rate(rng, 1, 30);
    const auto tuned = tune(need, items);
    if (!tuned) continue;
    ++tuned_some;
    ASSERT_TRUE(is_tight(need, items, *tuned)) << "seed " << seed;
  }
  EXPECT_GT(tuned_some, 0);
}

TEST(Tune, NoNeedTakesNoSlice) {
  EXPECT_EQ(tune(0, {}), std::vector<bool>{});
  EXPECT_EQ(tune(0, {{1, 1}}), std::nullopt);
  EXPECT_EQ(tune(1, {}), std::nullopt);
}

// 3 + 3 are enough only if one of them gains, and the one that gains more is too much with the third.
TEST(Tune, TakesASmallerGainWhereTheLargestLeavesASurplus) {
  const std::vector<SliceRates> items = {{3, 9}, {3, 5}, {1, 1}};
  EXPECT_EQ(tune(9, items), (std::vector<bool>{false, true, false}));
}

/// The fewest changes of a question, with new slices of any whole rate.
class FewestByTrial {
 public:
  explicit FewestByTrial(const CoverQuestion& question) : question_(question) {}

  std::optional<std::int64_t> run() {
    for (std::uint32_t kept = 0; kept < (1U << question_.standing.size()); ++kept) {
      items_ = question_.fixed;
      for (std::size_t i = 0; i < question_.standing.size(); ++i) {
        if (((kept >> i) & 1U) != 0) items_.push_back(question_.standing[i]);
      }
      add(std::ssize(question_.standing) - std::popcount(kept), question_.rate_max);
    }
    return best_;
  }

 private:
  void add(std::int64_t changes, Rate rate_max) {
    if (best_ && changes >= *best_) return;
    if (is_tight_somehow(question_.need, items_)) best_ = changes;
    if (has_surplus(question_.need, items_)) return;
    for (Rate rate = rate_max; rate >= 1; --rate) {
      items_.push_back({rate, rate});
      if (items_.size() < 14) add(changes + 1, rate);
      items_.pop_back();
    }
  }

  const CoverQuestion& question_;
  std::vector<SliceRates> items_;
  std::optional<std::int64_t> best_;
};

CoverQuestion drawn_cover_question(Rng& rng, int percent_tunable) {
  CoverQuestion question;
  question.need = drawn_rate(rng, 1, 14);
  question.rate_max = rng.below(8) == 0 ? 0 : drawn_rate(rng, 2, 6);
  question.fixed = drawn_items(rng, 2, percent_tunable);
  question.standing = drawn_items(rng, 5, percent_tunable);
  return question;
}

TEST(FewestChanges, AreNeverMoreThanTheTruth) {
  int exact = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCoverCases / 3)) {
    Rng rng = Rng(seed).split("bound");
    const CoverQuestion question = drawn_cover_question(rng, 50);
    const auto truth = FewestByTrial(question).run();
    if (!truth) continue;
    ASSERT_LE(fewest_changes(question), *truth) << "seed " << seed;
    if (fewest_changes(question) == *truth) ++exact;
  }
  EXPECT_GT(exact * 10, static_cast<int>(kCoverCases / 3) * 7);
}

TEST(FewestChanges, AreExactForSlicesWithOnePoint) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kCoverCases / 3)) {
    Rng rng = Rng(seed).split("exact");
    const CoverQuestion question = drawn_cover_question(rng, 0);
    const auto truth = FewestByTrial(question).run();
    if (!truth) continue;
    ++judged;
    ASSERT_EQ(fewest_changes(question), *truth) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

TEST(FewestChanges, FollowFromTheRates) {
  struct Row {
    const char* name;
    CoverQuestion question;
    std::int64_t changes;
  };
  const Row rows[] = {
      {"nothing exists", {.need = 10, .rate_max = 4, .fixed = {}, .standing = {}}, 3},
      {"what exists is enough", {.need = 10, .rate_max = 4, .fixed = {}, .standing = {{5, 5}, {5, 5}}}, 0},
      {"one is surplus", {.need = 10, .rate_max = 4, .fixed = {}, .standing = {{5, 5}, {5, 5}, {5, 5}}}, 1},
      {"one is short", {.need = 11, .rate_max = 4, .fixed = {}, .standing = {{5, 5}, {5, 5}}}, 1},
      {"it gains enough", {.need = 11, .rate_max = 4, .fixed = {}, .standing = {{5, 5}, {5, 6}}}, 0},
      {"its gain leaves a surplus", {.need = 9, .rate_max = 4, .fixed = {}, .standing = {{3, 9}, {4, 4}}}, 1},
      {"the fixed ones count", {.need = 10, .rate_max = 4, .fixed = {{6, 6}}, .standing = {}}, 1},
      {"a fixed one makes it surplus", {.need = 10, .rate_max = 4, .fixed = {{1, 1}, {9, 9}}, .standing = {{1, 1}}}, 1},
  };
  for (const Row& row : rows) EXPECT_EQ(fewest_changes(row.question), row.changes) << row.name;
}

/// All slices have one point: of each choice of kept ones the fewest new ones follow from the sum.
std::int64_t fewest_of_many(const CoverQuestion& question) {
  std::int64_t fewest = INT64_MAX;
  for (std::uint32_t kept = 0; kept < (1U << question.standing.size()); ++kept) {
    Rate sum = 0;
    Rate least = INT64_MAX;
    const auto take = [&](const SliceRates& item) {
      sum += item.low;
      least = std::min(least, item.low);
    };
    std::ranges::for_each(question.fixed, take);
    for (std::uint32_t rest = kept; rest != 0; rest &= rest - 1) {
      take(question.standing[static_cast<std::size_t>(std::countr_zero(rest))]);
    }
    const auto dropped = std::ssize(question.standing) - std::popcount(kept);
    if (sum >= question.need && sum - least < question.need) fewest = std::min<std::int64_t>(fewest, dropped);
    if (sum >= question.need) continue;
    fewest = std::min(fewest, dropped + (question.need - sum + question.rate_max - 1) / question.rate_max);
  }
  return fewest;
}

/// 18 slices with rates of their own: too many choices for an exact walk, only sums are left.
CoverQuestion question_of_many(Rate least, Rate need, Rate rate_max, std::vector<SliceRates> fixed) {
  CoverQuestion question{.need = need, .rate_max = rate_max, .fixed = std::move(fixed), .standing = {}};
  for (Rate i = 0; i < 18; ++i) question.standing.push_back({least + i, least + i});
  return question;
}

TEST(FewestChanges, OfManyKindsFollowFromSums) {
  const CoverQuestion questions[] = {
      question_of_many(100, 900, 100, {}),        // 9 of them
      question_of_many(100, 936, 100, {{1, 1}}),  // with the fixed one, any 9 leave a surplus
      question_of_many(10, 333 + 200, 10, {}),    // all of them, and new ones
      question_of_many(10, 333 + 201, 10, {{1, 1}}),
  };
  const std::int64_t changes[] = {9, 11, 20, 20};
  for (std::size_t i = 0; i < std::size(questions); ++i) {
    EXPECT_EQ(fewest_of_many(questions[i]), changes[i]) << i;
    EXPECT_EQ(fewest_changes(questions[i]), changes[i]) << i;
  }
}

// Even rates with an odd one never meet an even need exactly: a long walk finds a plan only late.
TEST(FewestChanges, OfManyKindsAreNeverMoreThanTheTruth) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(8, 2))) {
    Rng rng = Rng(seed).split("sums");
    CoverQuestion question{.need = 0, .rate_max = drawn_rate(rng, 2, 9), .fixed = {{1, 1}}, .standing = {}};
    Rate rate = 0;
    Rate sum = 0;
    for (int i = 0; i < 18; ++i) {
      rate += 2 * drawn_rate(rng, 1, 3);
      sum += rate;
      question.standing.push_back({rate, rate});
    }
    question.need = 2 * (sum / drawn_rate(rng, 3, 5));
    EXPECT_LE(fewest_changes(question), fewest_of_many(question)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::transition::detail
