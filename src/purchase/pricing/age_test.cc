#include "purchase/pricing/age.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::pricing {
namespace {

Offer since(std::int32_t day) {
  Offer offer;
  offer.validity.from = Date(day);
  return offer;
}

TEST(AgeWords, NameTheOldestAndTheNewestPrice) {
  EXPECT_EQ(age_words(std::vector{since(20'000), since(20'003), since(20'001)}, Date(20'010)),
            "of 2024-10-04 to 2024-10-07, 7 to 10 days old");
  EXPECT_EQ(age_words(std::vector{since(20'000)}, Date(20'000)), "of 2024-10-04, 0 days old");
}

}  // namespace
}  // namespace berth::pricing
