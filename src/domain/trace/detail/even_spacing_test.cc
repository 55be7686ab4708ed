#include "domain/trace/detail/even_spacing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/core/instant.h"
#include "domain/values/arrivals.h"

namespace berth::detail {
namespace {

using testing::ElementsAre;

/// The definition, in exact rationals: request k at floor(k x 10^6 / rate).
std::vector<std::uint32_t> defined_offsets(const Decimal& rate, std::int64_t second) {
  std::vector<std::uint32_t> offsets;
  if (rate.sign() == 0) return offsets;
  const Decimal begin_us(second * kMicrosPerSecond);
  const Decimal end_us((second + 1) * kMicrosPerSecond);
  for (std::int64_t request = std::max<std::int64_t>((Decimal(second) * rate).floor() - 1, 0);; ++request) {
    const Decimal at_us = Decimal(request) * Decimal(kMicrosPerSecond) / rate;
    if (at_us >= end_us) return offsets;
    if (at_us >= begin_us) offsets.push_back(static_cast<std::uint32_t>((at_us - begin_us).floor()));
  }
}

TEST(EvenSpacing, IsTheDefinitionForEveryRate) {
  // The last three have more than 18 places, or more digits than 64 bits hold.
  for (const std::string_view text : {"0", "1", "3", "7", "0.3", "0.001", "999.999", "1e-18", "33.333333333333333",
                                      "1234567.891", "33.333333333333333333", "0.123456789012345678901", "1e-30"}) {
    const Decimal rate = Decimal::parse(text).value();
    const EvenSpacing spacing(rate);
    for (const std::int64_t second :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{333}, kTraceSecondsMax - 1}) {
      std::vector<std::uint32_t> found;
      spacing.offsets(second, found);
      if (rate > Decimal(100'000) && second > 0) {
        EXPECT_EQ(std::ssize(found), spacing.count(second));
        continue;
      }
      EXPECT_EQ(found, defined_offsets(rate, second)) << text << " in second " << second;
      EXPECT_EQ(spacing.count(second), std::ssize(found)) << text << " in second " << second;
    }
  }
}

TEST(EvenSpacing, PutsSeveralRequestsIntoOneMicrosecondAtTheHighestRate) {
  const EvenSpacing spacing{Decimal(kRequestsPerSecondMax)};
  std::vector<std::uint32_t> found;
  spacing.offsets(kTraceSecondsMax - 1, found);
  ASSERT_EQ(std::ssize(found), kRequestsPerSecondMax);
  EXPECT_EQ(found[9], 0U);
  EXPECT_EQ(found[10], 1U);
  EXPECT_EQ(found.back(), 999'999U);
}

TEST(EvenSpacing, DoesNotDrift) {
  const EvenSpacing spacing{Decimal(1, 3)};
  std::vector<std::uint32_t> found;
  spacing.offsets(1'000'000'002, found);
  EXPECT_THAT(found, ElementsAre(0));
  EXPECT_EQ(spacing.count(1'000'000'001), 0);
}

}  // namespace
}  // namespace berth::detail
