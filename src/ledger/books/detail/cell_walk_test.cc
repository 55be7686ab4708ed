// Cells of one GPU, worked out by hand.
#include "ledger/books/detail/cell_walk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::ledger::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A GPU with the inputs of its cells. Times count from the midnight at 0.
class CellWalkTest : public ::testing::Test {
 protected:
  void pay(std::int64_t from_us, std::int64_t to_us, std::int64_t capacity, NameId sku = 0) {
    ASSERT_TRUE(
        gpu_.accept(PaidRecord{.when = {.from_us = from_us, .to_us = to_us}, .capacity = capacity, .sku = sku}));
  }
  void use(const std::string& slice, std::int64_t from_us, std::int64_t to_us, std::int32_t weight) {
    uses_.insert(
        {.when = {.from_us = from_us, .to_us = to_us}, .weight = weight, .holder = 1, .slice = slices_.intern(slice)});
  }
  void price(std::int64_t from_us, std::int64_t micro_usd, NameId sku = 0) {
    prices_.insert(sku, {.from_us = from_us, .micro_usd_per_gpu_hour = micro_usd});
  }

  /// "[from, to) at PRICE of WHOLE: SLICE GRAINS+US, .. idle GRAINS+US" of each cell.
  [[nodiscard]] std::vector<std::string> cells(std::int64_t from_us, std::int64_t to_us) {
    std::vector<std::string> texts;
    walk_.begin(gpu_, uses_, {.from_us = from_us, .to_us = to_us});
    while (walk_.next()) texts.push_back(text_of(walk_.cell()));
    return texts;
  }

  Names slices_;
  PriceBook prices_;
  GpuBook gpu_;
  UseSet uses_;
  CellWalk walk_{prices_, slices_};

 private:
  [[nodiscard]] std::string text_of(const CellView& cell) const {
    std::string text = fmt::format("[{}, {})", cell.when.from_us, cell.when.to_us);
    if (cell.paid == nullptr) {
      text += " unpaid:";
      for (const UseRecord* each : cell.uses) text += fmt::format(" {}", slices_.text(each->slice));
      return text;
    }
    text += cell.micro_usd_per_gpu_hour ? fmt::format(" at {}", *cell.micro_usd_per_gpu_hour) : " unpriced";
    text += fmt::format(" of {}:", cell.whole);
    for (std::size_t i = 0; i < cell.grains.size(); ++i) {
      text += fmt::format(" {} {}+{}", i < cell.uses.size() ? slices_.text(cell.uses[i]->slice) : "idle",
                          cell.grains[i], cell.gpu_us[i]);
    }
    return text;
  }
};

TEST_F(CellWalkTest, NothingIsNoCell) {
  EXPECT_THAT(cells(0, 100), IsEmpty());
  pay(200, 300, 1);
  EXPECT_THAT(cells(0, 100), IsEmpty());
  EXPECT_THAT(cells(0, 200), IsEmpty());
  EXPECT_THAT(cells(300, 400), IsEmpty());
}

TEST_F(CellWalkTest, UnusedTimeIsIdle) {
  price(0, 3);
  pay(10, 20, 7);
  EXPECT_THAT(cells(0, 100), ElementsAre("[10, 20) at 3 of 7: idle 30+10"));
  EXPECT_THAT(cells(12, 15), ElementsAre("[12, 15) at 3 of 7: idle 9+3"));
}

TEST_F(CellWalkTest, ACellEndsWhereSomethingChanges) {
  price(0, 2);
  pay(0, 100, 4);
  use("b", 10, 30, 1);
  use("a", 20, 40, 2);
  use("a", 40, 50, 3);                                                     // another use of the slice follows at once
  EXPECT_THAT(cells(0, 100), ElementsAre("[0, 10) at 2 of 4: idle 20+10",  //
                                         "[10, 20) at 2 of 4: b 5+3 idle 15+7",        // 2.5 and 7.5 us
                                         "[20, 30) at 2 of 4: a 10+5 b 5+3 idle 5+2",  // 5, 2.5 and 2.5 us
                                         "[30, 40) at 2 of 4: a 10+5 idle 10+5",       //
                                         "[40, 50) at 2 of 4: a 15+8 idle 5+2",        // 7.5 and 2.5 us
                                         "[50, 100) at 2 of 4: idle 100+50"));
}

TEST_F(CellWalkTest, PricesCutPaidTime) {
  price(10, 5);
  price(20, 5);  // equal, but a border
  price(30, 0);
  price(15, 1000, 1);  // of another sku
  pay(0, 40, 1);
  EXPECT_THAT(cells(0, 100), ElementsAre("[0, 10) unpriced of 1: idle 0+10", "[10, 20) at 5 of 1: idle 50+10",
                                         "[20, 30) at 5 of 1: idle 50+10", "[30, 40) at 0 of 1: idle 0+10"));
}

TEST_F(CellWalkTest, MoreWeightThanCapacityLeavesNothingIdle) {
  price(0, 1);
  pay(0, 60, 56);
  use("4g", 0, 60, 32);
  use("3g", 0, 60, 28);
  use("1g", 30, 60, 8);
  EXPECT_THAT(cells(0, 60), ElementsAre("[0, 30) at 1 of 60: 3g 14+14 4g 16+16 idle 0+0",
                                        // 30 x 8, 28, 32 of 68: 3.53, 12.35, 14.12; two are left
                                        "[30, 60) at 1 of 68: 1g 4+4 3g 12+12 4g 14+14 idle 0+0"));
}

TEST_F(CellWalkTest, EqualRemaindersGoByTheBytesOfTheSliceAndIdleIsLast) {
  price(0, 1);
  pay(0, 2, 4);
  use("\xC3\xA9", 0, 2, 1);
  use("2", 0, 2, 1);
  use("10", 0, 2, 1);  // half a grain each, idle too
  EXPECT_THAT(cells(0, 2), ElementsAre("[0, 2) at 1 of 4: 10 1+1 2 1+1 \xC3\xA9 0+0 idle 0+0"));
}

TEST_F(CellWalkTest, UsesThatNobodyPaysForAreCellsToo) {
  price(0, 1);
  pay(10, 20, 1);
  pay(30, 40, 2, 1);
  use("a", 5, 35, 1);
  use("b", 25, 50, 1);
  EXPECT_THAT(cells(0, 100),
              ElementsAre("[5, 10) unpaid: a", "[10, 20) at 1 of 1: a 10+10 idle 0+0", "[20, 25) unpaid: a",
                          "[25, 30) unpaid: a b", "[30, 35) unpriced of 2: a 0+3 b 0+2 idle 0+0",  // 2.5 us each
                          "[35, 40) unpriced of 2: b 0+3 idle 0+2", "[40, 50) unpaid: b"));
}

TEST_F(CellWalkTest, PaidTimesMayTouch) {
  price(0, 1);
  price(0, 7, 1);
  pay(0, 10, 1);
  pay(10, 20, 2, 1);
  use("a", 0, 20, 1);
  EXPECT_THAT(cells(0, 20), ElementsAre("[0, 10) at 1 of 1: a 10+10 idle 0+0", "[10, 20) at 7 of 2: a 35+5 idle 35+5"));
  EXPECT_THAT(cells(10, 20), ElementsAre("[10, 20) at 7 of 2: a 35+5 idle 35+5"));
  EXPECT_THAT(cells(9, 11), ElementsAre("[9, 10) at 1 of 1: a 1+1 idle 0+0", "[10, 11) at 7 of 2: a 4+1 idle 3+0"));
}

TEST_F(CellWalkTest, TheWindowCutsAndTheWalkBeginsAnew) {
  price(0, 1);
  price(50, 2);
  pay(0, 100, 1);
  use("a", 0, 100, 1);
  use("b", 200, 300, 1);  // outside
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(cells(10, 60),
                ElementsAre("[10, 50) at 1 of 1: a 40+40 idle 0+0", "[50, 60) at 2 of 1: a 20+10 idle 0+0"));
    EXPECT_THAT(cells(50, 51), ElementsAre("[50, 51) at 2 of 1: a 2+1 idle 0+0"));
    EXPECT_THAT(cells(100, 200), IsEmpty());
  }
}

TEST_F(CellWalkTest, LargeAmountsAreExact) {
  price(0, 1'000'000'000'000'000);
  pay(0, 86'400'000'000, 1'000'000);
  use("a", 0, 86'400'000'000, 333'333);
  // 8.64e25 x 0.333333 is a whole number; the microseconds are 28,799,971,200.
  EXPECT_THAT(
      cells(0, 86'400'000'000),
      ElementsAre("[0, 86400000000) at 1000000000000000 of 1000000: a 28799971200000000000000000+28799971200 idle "
                  "57600028800000000000000000+57600028800"));
}

}  // namespace
}  // namespace berth::ledger::detail
