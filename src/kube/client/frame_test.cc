#include "kube/client/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/json/node_text.h"
#include "kube/client/page.h"

namespace berth::kube {
namespace {

TEST(Frame, IsReadByItsType) {
  const auto added = read_frame(R"({"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"b","uid":"u",)"
                                R"("resourceVersion":"7"},"x":1}})");
  ASSERT_TRUE(added) << added.error().message;
  const auto& object = std::get<ObjectFrame>(*added);
  EXPECT_EQ(object.kind, ChangeKind::kModified);
  EXPECT_EQ(object.identity.name.text(), "b/a");
  EXPECT_EQ(object.identity.version, "7");
  EXPECT_NE(json::find_at(object.object, {"x"}), nullptr);
  const auto bookmark = read_frame(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})");
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(std::get<BookmarkFrame>(*bookmark).version, "9");
  const auto error = read_frame(R"({"type":"ERROR","object":{"code":410,"reason":"Expired","message":"m"}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(std::get<ErrorFrame>(*error).refusal.code, 410);
}

TEST(Frame, AnythingElseIsMalformed) {
  for (const char* line :
       {"", "{", "[]", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{}})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})", R"({"type":"BOOKMARK","object":{}})",
        R"({"type":"MOVED","object":{"metadata":{"name":"a","resourceVersion":"1"}}})"}) {
    EXPECT_FALSE(read_frame(line)) << line;
  }
}

TEST(Page, HasItemsAVersionAndAContinuation) {
  const auto page = read_page(R"({"metadata":{"resourceVersion":"5","continue":"c"},"items":[{"metadata":{"name":"a",)"
                              R"("resourceVersion":"1"}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.size(), 1U);
  EXPECT_EQ(page->continuation, "c");
  // The list of no objects may have items: null.
  EXPECT_TRUE(read_page(R"({"metadata":{"resourceVersion":"5"},"items":null})"));
  EXPECT_FALSE(read_page(R"({"items":[]})"));
  EXPECT_FALSE(read_page(R"({"metadata":{"resourceVersion":"5"},"items":[{}]})"));
}

TEST(Resource, PathsAreThoseOfTheApi) {
  EXPECT_EQ(collection_path(kPods), "/api/v1/pods");
  EXPECT_EQ(object_path(kPods, {"lab", "one"}, "status"), "/api/v1/namespaces/lab/pods/one/status");
  EXPECT_EQ(object_path(kResourceSlices, {"", "n/1"}), "/apis/resource.k8s.io/v1/resourceslices/n%2F1");
}

}  // namespace
}  // namespace berth::kube
