#include "base/json/node_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json/document.h"

namespace berth::json {
namespace {

TEST(NodeText, WritesWhatWasRead) {
  for (const std::string text : {R"({"a":[1,2.50,-3e7,true,null,"x\"y"],"b":{},"c":[]})", "[]", "\"\"", "1.0"}) {
    const auto node = parse_document(text, "test");
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(text_of_node(*node), text);
  }
}

TEST(NodeText, FindsBelowSeveralKeys) {
  const auto node = parse_document(R"({"metadata":{"name":"a","finalizers":["x"],"n":1}})", "test");
  ASSERT_TRUE(node);
  EXPECT_EQ(text_at(*node, {"metadata", "name"}), "a");
  EXPECT_EQ(text_at(*node, {"metadata", "n"}), "");
  EXPECT_EQ(text_at(*node, {"metadata", "name", "deeper"}), "");
  EXPECT_EQ(list_at(*node, {"metadata", "finalizers"}).size(), 1U);
  EXPECT_TRUE(list_at(*node, {"metadata", "name"}).empty());
  EXPECT_EQ(find_at(*node, {"spec"}), nullptr);
  EXPECT_EQ(find_at(*node, {}), &*node);
}

}  // namespace
}  // namespace berth::json
