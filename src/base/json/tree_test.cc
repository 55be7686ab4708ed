#include "base/json/tree.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/json/document.h"

namespace berth::json {
namespace {

TEST(JsonValues, AnswersWhatIsThere) {
  const yaml::Node root = parse_document(R"({"a":"x","b":[1,2],"c":true,"d":-5,"e":2.5})", "f").value();
  EXPECT_EQ(*text_in(*find_member(root, "a")), "x");
  EXPECT_EQ(list_in(*find_member(root, "b"))->size(), 2U);
  EXPECT_EQ(truth_in(*find_member(root, "c")), true);
  EXPECT_EQ(integer_in<int>(*find_member(root, "d")), -5);
  EXPECT_EQ(double_in(*find_member(root, "e")), 2.5);
}

TEST(JsonValues, AnswersNothingForAnotherKind) {
  const yaml::Node root = parse_document(R"({"a":"1","b":300,"c":1.0,"d":18446744073709551615})", "f").value();
  const yaml::Node& text = *find_member(root, "a");
  EXPECT_EQ(find_member(root, "x"), nullptr);
  EXPECT_EQ(find_member(text, "x"), nullptr);
  EXPECT_EQ(list_in(root), nullptr);
  EXPECT_EQ(text_in(*find_member(root, "b")), nullptr);
  EXPECT_EQ(truth_in(text), std::nullopt);
  EXPECT_EQ(double_in(text), std::nullopt);
  EXPECT_EQ(integer_in<int>(text), std::nullopt);
  EXPECT_EQ(integer_in<std::uint8_t>(*find_member(root, "b")), std::nullopt);
  EXPECT_EQ(integer_in<int>(*find_member(root, "c")), std::nullopt);
  EXPECT_EQ(integer_in<std::int64_t>(*find_member(root, "d")), std::nullopt);
  EXPECT_EQ(integer_in<std::uint64_t>(*find_member(root, "d")), UINT64_MAX);
}

}  // namespace
}  // namespace berth::json
