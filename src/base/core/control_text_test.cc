#include "base/core/control_text.h"

#include <gtest/gtest.h>

#include "base/core/text.h"

namespace berth {
namespace {

TEST(ControlText, FindsAllKindsOfControlCharacters) {
  for (const std::string_view text : {"\x1b[2J", "a\n", "\x7f", "tab\there", "\xC2\x9b", "e\xC2\x80", "\xC2\x85x"}) {
    EXPECT_TRUE(has_control(text)) << in_quotes(text);
  }
  for (const std::string_view text : {"", "plain", "\xC2\xA0", "\xC3\xA9", "\xE2\x82\xAC", "\xC2"}) {
    EXPECT_FALSE(has_control(text)) << in_quotes(text);
  }
  EXPECT_EQ(control_size("\xC2\x9b", 0), 2U);
  EXPECT_EQ(control_size("a\x1b", 1), 1U);
  EXPECT_EQ(control_size("a\x1b", 0), 0U);
}

TEST(ControlText, QuotedTextHasNone) { EXPECT_EQ(in_quotes("a\x1b[1mb\xC2\x9b!\x7f"), R"("a\x1b[1mb\xc2\x9b!\x7f")"); }

}  // namespace
}  // namespace berth
