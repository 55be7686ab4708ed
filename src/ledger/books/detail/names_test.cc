#include "ledger/books/detail/names.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::ledger::detail {
namespace {

TEST(Names, NumbersTextsInTheOrderInWhichTheyCome) {
  Names names;
  EXPECT_EQ(names.size(), 0U);
  EXPECT_EQ(names.find("a"), std::nullopt);
  EXPECT_EQ(names.find(""), std::nullopt);
  EXPECT_EQ(names.intern("a"), 0U);
  EXPECT_EQ(names.intern(""), 1U);
  EXPECT_EQ(names.intern("a"), 0U);
  EXPECT_EQ(names.intern("ab"), 2U);
  EXPECT_EQ(names.intern(""), 1U);
  EXPECT_EQ(names.intern(std::string_view("a\0", 2)), 3U);
  EXPECT_EQ(names.find("a"), 0U);
  EXPECT_EQ(names.find("ab"), 2U);
  EXPECT_EQ(names.find("b"), std::nullopt);
  EXPECT_EQ(names.size(), 4U);
  EXPECT_EQ(names.text(0), "a");
  EXPECT_EQ(names.text(1), "");
  EXPECT_EQ(names.text(2), "ab");
  EXPECT_EQ(names.text(3), std::string_view("a\0", 2));
}

/// So many that some have the same hash of 32 bits.
TEST(Names, KeepsThemAsItGrows) {
  constexpr NameId kCount = 300'000;
  const auto name = [](NameId number) { return "name " + std::to_string(1'000'000 + number); };
  Names names;
  for (NameId i = 0; i < kCount; ++i) {
    ASSERT_EQ(names.intern(name(i)), i);
    ASSERT_EQ(names.intern(name(i / 2)), i / 2);
  }
  for (NameId i = 0; i < kCount; ++i) {
    ASSERT_EQ(names.find(name(i)), i);
    ASSERT_EQ(names.text(i), name(i));
  }
  EXPECT_EQ(names.find(name(kCount)), std::nullopt);
  EXPECT_EQ(names.size(), kCount);
}

TEST(Names, ACopyIsAnother) {
  Names names;
  EXPECT_EQ(names.intern("a"), 0U);
  Names copy = names;
  EXPECT_EQ(copy.intern("b"), 1U);
  EXPECT_EQ(names.intern("c"), 1U);
  EXPECT_EQ(copy.text(1), "b");
  EXPECT_EQ(names.text(1), "c");
}

}  // namespace
}  // namespace berth::ledger::detail
