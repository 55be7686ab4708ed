#include "surface/cli/shared/text_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::cli {
namespace {

TEST(TextTable, ColumnsAreAlignedWithoutSpacesAtTheEnd) {
  const std::vector<std::string> expected = {"a       b", "long  123", "x"};
  EXPECT_EQ(aligned({{"a", "b"}, {"long", "123"}, {"x", ""}}), expected);
}

TEST(TextTable, LongTextIsBrokenAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 8), "one two\n  three");
  EXPECT_EQ(wrapped("incredibly long", 4), "incredibly\n  long");
  EXPECT_EQ(wrapped("a\nb\x1b", 10), "a?b?");
  EXPECT_EQ(wrapped("", 10), "");
}

}  // namespace
}  // namespace berth::cli
