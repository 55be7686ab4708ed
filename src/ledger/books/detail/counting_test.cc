// How much is counted again; what comes out is tested with the whole books.
#include "ledger/books/detail/counting.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace berth::ledger::detail {
namespace {

/// A GPU with 1,000 uses in one day, all counted.
class CountingTest : public ::testing::Test {
 protected:
  CountingTest() {
    for (const char* name : {"a", "b"}) (void)slices_.intern(name);
    prices_.insert(0, {.from_us = 0, .micro_usd_per_gpu_hour = 1'000'000});
    EXPECT_TRUE(gpu_.accept(PaidRecord{.when = {.from_us = 0, .to_us = kMicrosPerDay}, .capacity = 7}));
    for (std::int64_t i = 0; i < 1'000; ++i) EXPECT_TRUE(gpu_.accept(use_at(0, i * 80'000'000)));
    EXPECT_GT(cells_counted(), 1'900U);
  }

  static UseRecord use_at(NameId slice, std::int64_t from_us) {
    return {.when = {.from_us = from_us, .to_us = from_us + 40'000'000},
            .position = 2 * static_cast<std::uint64_t>(from_us) + slice,
            .weight = 1,
            .holder = 1,
            .slice = slice};
  }

  /// The number of cells that the next count divides.
  [[nodiscard]] std::uint64_t cells_counted() {
    const std::uint64_t before = counting_.cell_count();
    EXPECT_FALSE(counting_.count(gpu_, Month::of(0), accounts_));
    return counting_.cell_count() - before;
  }

  Names slices_;
  PriceBook prices_;
  GpuBook gpu_;
  Accounts accounts_;
  Counting counting_{prices_, slices_};
};

TEST_F(CountingTest, ALateUseCostsItsOwnCells) {
  ASSERT_TRUE(gpu_.accept(use_at(1, 400'010'000'000 / 10)));
  EXPECT_LE(cells_counted(), 12U);
  EXPECT_EQ(cells_counted(), 0U);
}

TEST_F(CountingTest, AVoidCostsItsOwnCells) {
  const UseRecord use = use_at(0, 80'000'000);
  ASSERT_TRUE(gpu_.take_back_use(use.slice, use.when.from_us, use.position));
  EXPECT_LE(cells_counted(), 12U);
}

TEST_F(CountingTest, AnOverlapLeavesWhatWasCounted) {
  EXPECT_FALSE(gpu_.accept(use_at(0, 80'000'001)));
  EXPECT_EQ(cells_counted(), 0U);
}

TEST_F(CountingTest, OtherChangesCostTheDay) {
  gpu_.touch({.from_us = 0, .to_us = 1});
  EXPECT_GT(cells_counted(), 1'900U);
}

}  // namespace
}  // namespace berth::ledger::detail
