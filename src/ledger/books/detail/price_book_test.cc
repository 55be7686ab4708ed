#include "ledger/books/detail/price_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace berth::ledger::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

/// "sku [from, to)" of each change since they were last taken.
std::vector<std::string> changes_of(PriceBook& book) {
  std::vector<std::string> changes;
  for (const PriceBook::Change& change : book.take_changes()) {
    changes.push_back(fmt::format("{} [{}, {})", change.sku, change.when.from_us, change.when.to_us));
  }
  return changes;
}

TEST(PriceBook, APriceIsInForceUntilTheNextOne) {
  PriceBook book;
  book.insert(3, {.from_us = 20, .micro_usd_per_gpu_hour = 2});
  book.insert(3, {.from_us = 10, .micro_usd_per_gpu_hour = 1});
  book.insert(3, {.from_us = 30, .micro_usd_per_gpu_hour = 0});
  EXPECT_EQ(book.at(3, 9), std::nullopt);
  EXPECT_EQ(book.at(3, 10), 1);
  EXPECT_EQ(book.at(3, 19), 1);
  EXPECT_EQ(book.at(3, 20), 2);
  EXPECT_EQ(book.at(3, 29), 2);
  EXPECT_EQ(book.at(3, 30), 0);
  EXPECT_EQ(book.at(3, kForever), 0);
  for (const NameId other : {0U, 2U, 4U, 1000U}) EXPECT_EQ(book.at(other, 20), std::nullopt);
  EXPECT_EQ(book.of(3).size(), 3U);
  EXPECT_THAT(book.of(4), IsEmpty());
  EXPECT_THAT(book.of(0), IsEmpty());
}

TEST(PriceBook, KnowsTheMomentsThatAreTaken) {
  PriceBook book;
  EXPECT_FALSE(book.has_price_from(0, 10));
  book.insert(0, {.from_us = 10, .micro_usd_per_gpu_hour = 1});
  EXPECT_TRUE(book.has_price_from(0, 10));
  EXPECT_FALSE(book.has_price_from(0, 9));
  EXPECT_FALSE(book.has_price_from(0, 11));
  EXPECT_FALSE(book.has_price_from(1, 10));
}

TEST(PriceBook, SaysWhatChangedSinceItWasAsked) {
  PriceBook book;
  EXPECT_THAT(changes_of(book), IsEmpty());
  book.insert(1, {.from_us = 20, .micro_usd_per_gpu_hour = 1});
  EXPECT_THAT(changes_of(book), ElementsAre(fmt::format("1 [20, {})", kForever)));
  EXPECT_THAT(changes_of(book), IsEmpty());
  // Up to the next price, and merged with other changes of the sku.
  book.insert(1, {.from_us = 5, .micro_usd_per_gpu_hour = 2});
  book.insert(0, {.from_us = 7, .micro_usd_per_gpu_hour = 2});
  book.insert(1, {.from_us = 10, .micro_usd_per_gpu_hour = 3});
  EXPECT_THAT(changes_of(book), ElementsAre("1 [5, 20)", fmt::format("0 [7, {})", kForever)));
  book.insert(1, {.from_us = 15, .micro_usd_per_gpu_hour = 2});
  book.insert(1, {.from_us = 2, .micro_usd_per_gpu_hour = 2});
  EXPECT_THAT(changes_of(book), ElementsAre("1 [2, 20)"));
}

}  // namespace
}  // namespace berth::ledger::detail
