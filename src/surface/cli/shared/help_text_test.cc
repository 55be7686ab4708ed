#include "surface/cli/shared/help_text.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(WrappedHelp, BreaksSentencesAndDescriptions) {
  const std::string long_sentence =
      "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.";
  EXPECT_EQ(wrapped_help(long_sentence + "\n"),
            "One two three four five six seven eight nine ten eleven twelve thirteen fourteen\nfifteen.\n");
  EXPECT_EQ(wrapped_help("  --name WORD                 " + long_sentence + "\n\nEnd\n"),
            "  --name WORD                 One two three four five six seven eight nine ten\n"
            "                              eleven twelve thirteen fourteen fifteen.\n\nEnd\n");
}

TEST(WrappedHelp, LeavesExamplesAndLongWordsWhole) {
  const std::string example = "  berth replay " + std::string(40, 'a') + " " + std::string(40, 'b') + "\n";
  EXPECT_EQ(wrapped_help(example), example);
  const std::string word = "  --name                      " + std::string(60, 'c') + " and more\n";
  EXPECT_EQ(wrapped_help(word),
            "  --name                      " + std::string(60, 'c') + "\n                              and more\n");
  EXPECT_EQ(wrapped_help(""), "");
}

}  // namespace
}  // namespace berth::cli
