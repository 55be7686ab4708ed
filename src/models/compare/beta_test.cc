#include "models/compare/beta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::models {
namespace {

/// P(X <= hits) of the binomial distribution, term by term.
double binomial_up_to(int hits, int count, double share) {
  double sum = 0;
  for (int k = 0; k <= hits; ++k) {
    const double log_term = std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1) +
                            k * std::log(share) + (count - k) * std::log1p(-share);
    sum += std::exp(log_term);
  }
  return sum;
}

TEST(IncompleteBeta, AgreesWithWhatIsKnown) {
  EXPECT_NEAR(incomplete_beta(2, 3, 0.5), 0.6875, 1e-13);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
  for (const double x : {1e-6, 0.1, 0.5, 0.9, 0.999}) {
    EXPECT_NEAR(incomplete_beta(1, 7, x), 1 - std::pow(1 - x, 7), 1e-13) << x;
    EXPECT_NEAR(incomplete_beta(3.5, 0.5, x), 1 - incomplete_beta(0.5, 3.5, 1 - x), 1e-12) << x;
  }
}

TEST(IncompleteBeta, IsTheTailOfTheBinomialDistribution) {
  for (const int count : {1, 5, 40, 1000, 100'000}) {
    for (const double share : {0.001, 0.02, 0.5, 0.93}) {
      const int hits = static_cast<int>(count * share);
      if (hits == count) continue;
      EXPECT_NEAR(incomplete_beta(count - hits, hits + 1, 1 - share), binomial_up_to(hits, count, share), 1e-8)
          << count << " " << share;
    }
  }
}

TEST(ShareBounds, AreWhereTheTailBegins) {
  constexpr double kTail = 0.025;
  for (const int count : {1, 10, 540}) {
    EXPECT_EQ(share_lower(0, count, kTail), 0);
    EXPECT_EQ(share_upper(count, count, kTail), 1);
    EXPECT_NEAR(share_upper(0, count, kTail), 1 - std::pow(kTail, 1.0 / count), 1e-10);
    for (const int hits : {1, count / 2}) {
      if (hits == 0 || hits >= count) continue;
      EXPECT_NEAR(binomial_up_to(hits, count, share_upper(hits, count, kTail)), kTail, 1e-8);
      EXPECT_NEAR(1 - binomial_up_to(hits - 1, count, share_lower(hits, count, kTail)), kTail, 1e-8);
    }
  }
}

TEST(StudentQuantile, AgreesWithTables) {
  EXPECT_NEAR(student_quantile(1, 0.025), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(10, 0.025), 2.22814, 1e-5);
  EXPECT_NEAR(student_quantile(1000, 0.025), 1.96234, 1e-5);
  EXPECT_NEAR(student_quantile(1e8, 0.025), 1.95996, 1e-4);
}

}  // namespace
}  // namespace berth::models
