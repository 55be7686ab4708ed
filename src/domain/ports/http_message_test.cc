#include "domain/ports/http_message.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

TEST(HttpMessage, HeadersAreFoundInAnyCaseAndTheFirstOneWins) {
  const std::vector<HttpField> headers = {{"Host", "a"}, {"X-Key", "1"}, {"x-key", "2"}, {"Empty", ""}};
  EXPECT_EQ(find_header(headers, "host"), "a");
  EXPECT_EQ(find_header(headers, "X-KEY"), "1");
  EXPECT_EQ(find_header(headers, "empty"), "");
  EXPECT_EQ(find_header(headers, "x-ke"), std::nullopt);
  EXPECT_EQ(find_header({}, "host"), std::nullopt);
}

TEST(HttpMessage, OnlyAsciiLettersCompareWithoutCase) {
  EXPECT_TRUE(is_same_header("ETag", "eTAG"));
  EXPECT_FALSE(is_same_header("a[", "a{"));
  EXPECT_FALSE(is_same_header("@", "`"));
}

}  // namespace
}  // namespace berth
