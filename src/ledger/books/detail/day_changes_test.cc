#include "ledger/books/detail/day_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::ledger::detail {
namespace {

constexpr Interval kDay{.from_us = 0, .to_us = 1000};

UseRecord use_of(NameId slice, std::int64_t from_us, std::int64_t to_us, std::uint64_t position) {
  return {.when = {.from_us = from_us, .to_us = to_us}, .position = position, .slice = slice};
}

/// A day with the uses 0 [100, 200), [200, 300), .. [800, 900) of slice 0, which were counted.
class DayChangesTest : public ::testing::Test {
 protected:
  DayChangesTest() {
    for (std::int64_t from_us = 100; from_us < 900; from_us += 100) {
      uses_.insert(use_of(0, from_us, from_us + 100, static_cast<std::uint64_t>(from_us)));
    }
  }

  void add(const UseRecord& use) {
    ASSERT_TRUE(uses_.insert(use));
    changes_.push_back({.use = use});
  }
  void remove(const UseRecord& use) {
    uses_.erase(use.slice, use.when.from_us);
    changes_.push_back({.use = use, .is_removal = true});
  }
  /// "[from, to) ..: number of added uses, number of removed ones".
  [[nodiscard]] std::string found() const {
    const DayChanges changes = find_day_changes(uses_, changes_, kDay);
    std::string text;
    for (const Interval& window : changes.windows) text += fmt::format("[{}, {}) ", window.from_us, window.to_us);
    return text + fmt::format("{} {}", changes.added.size(), changes.removed.size());
  }

  UseSet uses_;
  std::vector<UseChange> changes_;
};

TEST_F(DayChangesTest, AUseChangesTheCellsThatItTouches) {
  add(use_of(1, 250, 320, 1));
  EXPECT_EQ(found(), "[200, 400) 1 0");
}

TEST_F(DayChangesTest, BordersOfOtherUsesEndTheWindow) {
  add(use_of(1, 300, 400, 1));
  EXPECT_EQ(found(), "[300, 400) 1 0");
}

TEST_F(DayChangesTest, TheDayEndsTheWindow) {
  add(use_of(1, 20, 30, 1));
  add(use_of(1, 950, 1200, 2));
  add(use_of(2, -50, 10, 3));
  EXPECT_EQ(found(), "[0, 100) [900, 1000) 3 0");
}

TEST_F(DayChangesTest, WindowsAreJoinedWhereTheyOverlap) {
  add(use_of(1, 210, 220, 1));
  add(use_of(1, 280, 290, 2));
  add(use_of(1, 420, 430, 3));
  add(use_of(1, 700, 800, 4));
  EXPECT_EQ(found(), "[200, 300) [400, 500) [700, 800) 4 0");
}

// Its own borders may be gone.
TEST_F(DayChangesTest, ARemovedUseIsMissedUpToBordersThatStay) {
  remove(use_of(0, 100, 200, 100));
  EXPECT_EQ(found(), "[0, 200) 0 1");
  remove(use_of(0, 200, 300, 200));
  EXPECT_EQ(found(), "[0, 300) 0 2");
}

TEST_F(DayChangesTest, BordersOfAddedUsesAreNotTrusted) {
  add(use_of(1, 210, 290, 1));
  add(use_of(2, 230, 240, 2));
  EXPECT_EQ(found(), "[200, 300) 2 0");
}

TEST_F(DayChangesTest, WhatCameAndWentIsNeither) {
  add(use_of(1, 210, 290, 1));
  remove(use_of(1, 210, 290, 1));
  EXPECT_EQ(found(), "[200, 300) 0 0");
}

TEST(DayBook, ManyChangesMakeItDirty) {
  DayBook day;
  EXPECT_TRUE(day.is_dirty);  // it was never counted
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto from_us = static_cast<std::int64_t>(i);
    day.uses.insert(use_of(0, from_us, from_us + 1, i));
    day.add_change({.use = use_of(0, from_us, from_us + 1, i)});
  }
  EXPECT_TRUE(day.changes.empty());
  day.set_clean();
  for (std::uint64_t i = 40; i < 50; ++i) {
    EXPECT_FALSE(day.is_dirty);
    const auto from_us = static_cast<std::int64_t>(i);
    day.uses.insert(use_of(0, from_us, from_us + 1, i));
    day.add_change({.use = use_of(0, from_us, from_us + 1, i)});
  }
  EXPECT_EQ(day.changes.size(), 10U);
  for (std::uint64_t i = 50; i < 60; ++i) {
    const auto from_us = static_cast<std::int64_t>(i);
    day.uses.insert(use_of(0, from_us, from_us + 1, i));
    day.add_change({.use = use_of(0, from_us, from_us + 1, i)});
  }
  EXPECT_TRUE(day.is_dirty);
  EXPECT_TRUE(day.changes.empty());
}

}  // namespace
}  // namespace berth::ledger::detail
