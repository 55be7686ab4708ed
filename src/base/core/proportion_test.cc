#include "base/core/proportion.h"

#include <gtest/gtest.h>

#include <numeric>

namespace berth {
namespace {

constexpr Int128 kHuge = Int128{1} << 120U;

TEST(Proportion, DividesDownwards) {
  const auto is = [](const WholeQuotient& found, Int128 quotient, Int128 remainder) {
    return found.quotient == quotient && found.remainder == remainder;
  };
  EXPECT_TRUE(is(multiply_divide(7, 3, 4), 5, 1));
  EXPECT_TRUE(is(multiply_divide(-7, 3, 4), -6, 3));
  EXPECT_TRUE(is(multiply_divide(-8, 1, 4), -2, 0));
}

TEST(Proportion, DividesProductsOfMoreThan128Bits) {
  EXPECT_TRUE(multiply_divide(kHuge, kHuge, kHuge).quotient == kHuge);
  EXPECT_TRUE(multiply_divide(kHuge + 1, kHuge - 1, kHuge).quotient == kHuge - 1);
  EXPECT_TRUE(multiply_divide(kHuge + 1, kHuge - 1, kHuge).remainder == kHuge - 1);
  EXPECT_TRUE(multiply_divide(-kHuge - 1, kHuge - 1, kHuge).quotient == -kHuge);
  EXPECT_TRUE(multiply_divide(-kHuge - 1, kHuge - 1, kHuge).remainder == 1);
}

TEST(Proportion, SplitsWithoutARest) {
  using Numbers = std::vector<Int128>;
  EXPECT_EQ(split_in_proportion(10, Numbers{1, 1, 1}), (Numbers{4, 3, 3}));
  EXPECT_EQ(split_in_proportion(7, Numbers{28, 16, 12}), (Numbers{4, 2, 1}));  // 3.5, 2, 1.5: the first of equal ones
  EXPECT_EQ(split_in_proportion(-1, Numbers{1, 1}), (Numbers{0, -1}));
  EXPECT_EQ(split_in_proportion(5, Numbers{0, 3}), (Numbers{0, 5}));
  const Numbers parts = split_in_proportion(kHuge + 1, Numbers{kHuge, kHuge, 1});
  EXPECT_TRUE(std::accumulate(parts.begin(), parts.end(), Int128{0}) == kHuge + 1);
}

TEST(Proportion, RoundsHalfToEven) {
  EXPECT_TRUE(multiply_divide_half_even(5, 1, 2) == 2);
  EXPECT_TRUE(multiply_divide_half_even(7, 1, 2) == 4);
  EXPECT_TRUE(multiply_divide_half_even(-5, 1, 2) == -2);
  EXPECT_TRUE(multiply_divide_half_even(-7, 1, 2) == -4);
  EXPECT_TRUE(multiply_divide_half_even(11, 1, 4) == 3);
  EXPECT_TRUE(multiply_divide_half_even(9, 1, 4) == 2);
}

}  // namespace
}  // namespace berth
