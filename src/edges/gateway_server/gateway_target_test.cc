#include "edges/gateway_server/gateway_target.h"

#include <gtest/gtest.h>

#include <utility>

namespace berth::edges {
namespace {

std::string words_of(std::vector<std::string> path, std::string target) {
  HttpRequest request;
  request.path = std::move(path);
  request.target = std::move(target);
  const auto found = gateway_target(request);
  return found ? found->tenant + " " + found->service + " " + found->rest : "none";
}

TEST(GatewayTarget, TheRestIsAsItWasReceived) {
  EXPECT_EQ(words_of({"a", "b", "v2"}, "/a/b/v2"), "a b /v2");
  EXPECT_EQ(words_of({"a b", "c", "d/e", "", ".."}, "/a%20b/c/d%2Fe//..?x=%20/y"), "a b c /d%2Fe//..?x=%20/y");
  EXPECT_EQ(words_of({"a", "b"}, "/a/b"), "a b /");
  EXPECT_EQ(words_of({"a", "b"}, "/a/b?c=/d/e"), "a b /?c=/d/e");
  EXPECT_EQ(words_of({"a", "b", ""}, "/a/b/"), "a b /");
  EXPECT_EQ(words_of({"a", "b", "c"}, "http://host:1/a/b/c"), "a b /c");
}

TEST(GatewayTarget, TwoSegmentsAreNeeded) {
  EXPECT_EQ(words_of({}, "/"), "none");
  EXPECT_EQ(words_of({"a"}, "/a"), "none");
  EXPECT_EQ(words_of({"", "b", "c"}, "//b/c"), "none");
  EXPECT_EQ(words_of({"a", "", "c"}, "/a//c"), "none");
  EXPECT_EQ(words_of({"a", ""}, "/a/"), "none");
}

}  // namespace
}  // namespace berth::edges
