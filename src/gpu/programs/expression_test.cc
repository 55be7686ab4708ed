#include "gpu/programs/expression.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::programs {
namespace {

struct MatchCase {
  const char* expression;
  std::vector<std::string> matching;
  std::vector<std::string> others;
};

TEST(Expression, MatchesWholeTexts) {
  const std::vector<MatchCase> cases = {
      {"[a-z0-9-]{1,40}", {"a", "digits-2", std::string(40, 'x')}, {"", "A", "a b", "a\n", std::string(41, 'x')}},
      {"a|bc", {"a", "bc"}, {"abc", "b", "", "ac"}},
      {"(a|b)*c", {"c", "abac"}, {"ab", "cc"}},
      {"(?:ab)+", {"ab", "abab"}, {"", "aba"}},
      {"a?b{2}", {"bb", "abb"}, {"b", "bbb", "aabb"}},
      {"a{2,}", {"aa", "aaaaa"}, {"a", ""}},
      {"a{0,2}b", {"b", "ab", "aab"}, {"aaab"}},
      {"[^/]+\\.onnx", {"model.onnx"}, {"a/model.onnx", "modelxonnx", ".onnx"}},
      {"\\d\\w\\s\\D", {"1_ x"}, {"a_ x", "1_ 2"}},
      {"[]a]", {"]", "a"}, {"b"}},
      {"[\\d.-]+", {"1.5", "-2"}, {"a"}},
      {".*", {"", "anything at all"}, {}},
      {"a|", {"a", ""}, {"b"}},
      {"(a*)*", {"", "aaa"}, {"b"}},
  };
  for (const MatchCase& each : cases) {
    const auto compiled = Expression::compile(each.expression);
    ASSERT_TRUE(compiled.has_value()) << each.expression << ": " << compiled.error().message;
    for (const std::string& text : each.matching)
      EXPECT_TRUE(compiled->matches(text)) << each.expression << " " << text;
    for (const std::string& text : each.others) EXPECT_FALSE(compiled->matches(text)) << each.expression << " " << text;
  }
}

TEST(Expression, WhatDoesNotCompileSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[a-", "] at the end of the class"},
      {"(a", ") at the end of the group"},
      {"a)", "no ) without a ("},
      {"*a", "something to repeat"},
      {"a**", "one repeat after another"},
      {"a{2", "} after the number"},
      {"a{3,2}", "not below the first"},
      {"a{}", "a number of repeats"},
      {"^a", "no anchors"},
      {"a$", "no anchors"},
      {"\\", "a byte after"},
      {"\\1", "d, D, w, W, s, S or a mark"},
      {"[z-a]", "ascending"},
      {"(?=a)", "a group"},
      {"a{1001}", "at most 1000"},
      {"((a{100}){100})", "smaller"},
      {"", "1 to 256 bytes"},
      {std::string(257, 'a'), "1 to 256 bytes"},
      {std::string(20, '(') + std::string(20, ')'), "at most 16 groups"}};
  for (const auto& [text, wanted] : cases) {
    const auto compiled = Expression::compile(text);
    ASSERT_FALSE(compiled.has_value()) << text;
    EXPECT_NE(compiled.error().message.find(wanted), std::string::npos) << text << ": " << compiled.error().message;
  }
}

TEST(Expression, NoTextTakesLong) {
  // With back-tracking this takes 2^256 steps.
  const auto compiled = Expression::compile("(a|a|aa)*(a|aa)*b");
  ASSERT_TRUE(compiled.has_value());
  EXPECT_FALSE(compiled->matches(std::string(256, 'a')));
  EXPECT_TRUE(compiled->matches(std::string(255, 'a') + "b"));
}

}  // namespace
}  // namespace berth::programs
