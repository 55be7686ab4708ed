#include "base/core/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace berth {
namespace {

TEST(Rng, TheSameStateDrawsTheSame) {
  Rng a(7);
  Rng b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a(), b());
  // SplitMix64 with seed 1234567; the values are those of its authors' C code.
  Rng known(1234567);
  EXPECT_EQ(known(), 6457827717110365317ULL);
  EXPECT_EQ(known(), 3203168211198807973ULL);
}

TEST(Rng, SplittingDrawsNothingAndDependsOnNameIndexAndSeed) {
  Rng rng(7);
  Rng untouched(7);
  std::set<std::uint64_t> firsts;
  for (const char* name : {"arrivals", "offsets", "a", "b", ""}) {
    for (std::uint64_t index = 0; index < 200; ++index) firsts.insert(rng.split(name, index)());
  }
  firsts.insert(Rng(8).split("arrivals", 0)());
  EXPECT_EQ(firsts.size(), 1001U);
  EXPECT_EQ(rng(), untouched());
  EXPECT_EQ(rng.split("a", 3)(), rng.split("a", 3)());
}

/// Pearson's chi-square of counts that should be equal.
double chi_square(const std::vector<int>& counts) {
  double sum = 0;
  for (const int count : counts) sum += count;
  const double wanted = sum / static_cast<double>(counts.size());
  double chi = 0;
  for (const int count : counts) chi += (count - wanted) * (count - wanted) / wanted;
  return chi;
}

/// The chi-square value that a right generator exceeds once in 10,000 seeds (Wilson and Hilferty).
double chi_square_limit(double freedom) {
  const double cube = 1 - 2 / (9 * freedom) + 3.719 * std::sqrt(2 / (9 * freedom));
  return freedom * cube * cube * cube;
}

TEST(Rng, BelowIsUniform) {
  for (const std::uint64_t bound : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{10}, std::uint64_t{1000}}) {
    Rng rng(42);
    std::vector<int> counts(bound);
    for (std::uint64_t i = 0; i < bound * 1000; ++i) ++counts[rng.below(bound)];
    EXPECT_LT(chi_square(counts), chi_square_limit(static_cast<double>(bound - 1))) << bound;
  }
}

TEST(Rng, BelowIsUniformWhereAModuloWouldNotBe) {
  // Of 2^64 values, 3 x 2^62 would hit the lower third of this range twice as often.
  constexpr std::uint64_t kBound = 3ULL << 62;
  Rng rng(42);
  std::vector<int> counts(3);
  for (int i = 0; i < 30'000; ++i) ++counts[rng.below(kBound) >> 62];
  EXPECT_LT(chi_square(counts), chi_square_limit(2));
}

TEST(Rng, NeighbouringSplitsAreIndependent) {
  // The joint law of the first draws of streams i and i + 1, on a grid of 8 x 8.
  const Rng rng(42);
  std::vector<int> counts(64);
  for (std::uint64_t i = 0; i < 64'000; ++i) {
    Rng first = rng.split("x", i);
    Rng second = rng.split("x", i + 1);
    ++counts[first.below(8) * 8 + second.below(8)];
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(63));
}

TEST(Rng, UnitLiesInItsInterval) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = rng.unit();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(Rng, PoissonHasItsMeanAndVariance) {
  EXPECT_EQ(Rng(1).poisson(0), 0);
  for (const double mean : {0.01, 0.5, 3.0, 11.9, 12.1, 400.0, 1e6}) {
    Rng rng(5);
    constexpr int kDraws = 200'000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto x = static_cast<double>(rng.poisson(mean)) - mean;
      sum += x;
      squares += x * x;
    }
    EXPECT_NEAR(sum / kDraws, 0, 4 * std::sqrt(mean / kDraws)) << mean;
    // The fourth central moment of the law is mean + 3 mean^2.
    EXPECT_NEAR(squares / kDraws, mean, 4 * std::sqrt((mean + 2 * mean * mean) / kDraws)) << mean;
  }
}

TEST(RngDeathTest, RefusesWhatHasNoLaw) {
  Rng rng(1);
  EXPECT_DEATH(static_cast<void>(rng.below(0)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(rng.poisson(-1)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(rng.poisson(std::nan(""))), "broken invariant");
}

}  // namespace
}  // namespace berth
