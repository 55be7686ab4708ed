#include "ledger/books/detail/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/core/proportion.h"
#include "base/core/rng.h"
#include "base/core/test_cases.h"

namespace berth::ledger::detail {
namespace {

using ::testing::ElementsAre;
using Weights = std::vector<std::int64_t>;
using Parts = std::vector<Int128>;

Parts split(Int128 amount, const Weights& weights) {
  Splitter splitter;
  Parts parts(weights.size());
  splitter.split(amount, weights, std::accumulate(weights.begin(), weights.end(), std::int64_t{0}), parts);
  return parts;
}

TEST(Split, GivesWhatIsLeftOverToTheLargestRemainders) {
  EXPECT_THAT(split(7, {28, 16, 12}), ElementsAre(4, 2, 1));  // 3.5, 2, 1.5: the first of equal ones
  EXPECT_THAT(split(7, {12, 16, 28}), ElementsAre(2, 2, 3));
  EXPECT_THAT(split(10, {1, 1, 1, 4}), ElementsAre(2, 1, 1, 6));  // 1 3/7 each, 5 5/7: two are left
  EXPECT_THAT(split(5, {1, 1, 1, 1, 1, 1, 1, 1}), ElementsAre(1, 1, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(split(3, {1, 1}), ElementsAre(2, 1));
}

TEST(Split, ExactSharesStayExact) {
  EXPECT_THAT(split(0, {3, 4}), ElementsAre(0, 0));
  EXPECT_THAT(split(1, {1}), ElementsAre(1));
  EXPECT_THAT(split(56, {8, 14, 34}), ElementsAre(8, 14, 34));
  EXPECT_THAT(split(1, {0, 5, 0}), ElementsAre(0, 1, 0));
  EXPECT_THAT(split(17, {0, 7}), ElementsAre(0, 17));
}

TEST(Split, NothingGoesToTheWeightZero) {
  for (Int128 amount = 0; amount < 200; ++amount) {
    const Parts parts = split(amount, {3, 0, 5, 0, 7});
    EXPECT_EQ(parts[1] + parts[3], 0);
  }
}

/// Of kinds that meet the borders between the ways to multiply.
Int128 any_amount(Rng& rng) {
  const Int128 size = Int128{1} << rng.below(100);
  Int128 amount = size;
  switch (rng.below(3)) {
    case 0:
      amount = static_cast<Int128>(static_cast<unsigned __int128>(rng()) << 36U ^ rng()) % size;
      break;
    case 1:
      amount = size - 1;
      break;
    default:
      amount = size + static_cast<Int128>(rng.below(3));
      break;
  }
  return amount;
}

Weights any_weights(Rng& rng) {
  const std::uint64_t bits = 1 + rng.below(55);
  Weights weights(1 + rng.below(20));
  for (std::int64_t& weight : weights) {
    weight = static_cast<std::int64_t>(rng() & ((std::uint64_t{1} << bits) - 1));
    if (rng.below(5) == 0) weight = weights[0];  // ties
  }
  weights[rng.below(weights.size())] += 1;
  return weights;
}

/// base/core/proportion.h divides with integers of any length.
TEST(Split, IsThatOfIntegersOfAnyLength) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(20'000, 2'000))) {
    Rng rng(seed);
    const Int128 amount = any_amount(rng);
    const Weights weights = any_weights(rng);
    const Parts parts = split(amount, weights);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Int128{0}), amount);
    ASSERT_EQ(parts, split_in_proportion(amount, Parts(weights.begin(), weights.end()))) << seed;
  }
}

TEST(Split, ASplitterKeepsNothingOfTheAmountBefore) {
  Splitter splitter;
  Parts many(9);
  splitter.split(5, Weights(9, 1), 9, many);
  Parts few(2);
  splitter.split(3, Weights{1, 2}, 3, few);
  EXPECT_THAT(few, ElementsAre(1, 2));
  splitter.split(4, Weights{1, 2}, 3, few);
  EXPECT_THAT(few, ElementsAre(1, 3));
  splitter.split(5, Weights(9, 1), 9, many);
  EXPECT_THAT(many, ElementsAre(1, 1, 1, 1, 1, 0, 0, 0, 0));
}

TEST(Split, AThousandUsesOfTheLargestWeight) {
  const Weights weights(1000, 1'000'000);
  const Parts parts = split((Int128{1} << 99U) + 999, weights);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Int128{0}), (Int128{1} << 99U) + 999);
  const auto [least, most] = std::ranges::minmax(parts);
  EXPECT_LE(most - least, 1);
}

}  // namespace
}  // namespace berth::ledger::detail
