#include "base/core/shared_value.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

TEST(SharedValue, ACopyKeepsWhatItWas) {
  SharedValue<std::vector<int>> owner({1, 2});
  const SharedValue<std::vector<int>> reader = owner;
  EXPECT_EQ(&*reader, &*owner);
  owner.change().push_back(3);
  EXPECT_EQ(*reader, (std::vector{1, 2}));
  EXPECT_EQ(*owner, (std::vector{1, 2, 3}));
}

TEST(SharedValue, ACopyThatChangesLeavesTheOriginal) {
  SharedValue<std::vector<int>> owner({1});
  SharedValue<std::vector<int>> other;
  other = owner;
  other.change().push_back(2);
  EXPECT_EQ(*owner, std::vector{1});
  owner.change()[0] = 7;
  EXPECT_EQ(*other, (std::vector{1, 2}));
}

TEST(SharedValue, IsCopiedOnceAfterItWasShared) {
  SharedValue<std::vector<int>> owner({1});
  const std::vector<int>* const first = &*owner;
  EXPECT_EQ(&owner.change(), first);  // not shared
  {
    const SharedValue<std::vector<int>> reader = owner;
  }
  const std::vector<int>* const second = &owner.change();
  EXPECT_NE(second, first);
  EXPECT_EQ(&owner.change(), second);
}

TEST(SharedValue, MovesTakeTheValueAlong) {
  SharedValue<std::vector<int>> owner({1});
  const SharedValue<std::vector<int>> reader = owner;
  SharedValue<std::vector<int>> moved = std::move(owner);
  moved.change().push_back(2);
  EXPECT_EQ(*reader, std::vector{1});
  EXPECT_EQ(*moved, (std::vector{1, 2}));
}

}  // namespace
}  // namespace berth
