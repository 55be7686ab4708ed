#include "edges/http_server/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

struct GoodCase {
  std::string target;
  std::vector<std::string> path;
  std::vector<HttpField> query;
};

TEST(Target, IsSplitBeforeItIsDecoded) {
  const std::vector<GoodCase> cases = {
      {"/", {}, {}},
      {"/v1/services", {"v1", "services"}, {}},
      {"/v1/", {"v1", ""}, {}},
      {"//a", {"", "a"}, {}},
      {"/a%2Fb/c", {"a/b", "c"}, {}},
      {"/a%3Fb", {"a?b"}, {}},
      {"/./../x", {".", "..", "x"}, {}},
      {"/%2e%2E/x", {"..", "x"}, {}},
      {"/a+b", {"a+b"}, {}},
      {"/%C3%BC", {"\xC3\xBC"}, {}},
      {"/\xC3\xBC", {"\xC3\xBC"}, {}},
      {"/a?", {"a"}, {}},
      {"/a?b", {"a"}, {{"b", ""}}},
      {"/a?b=1&b=2&c=", {"a"}, {{"b", "1"}, {"b", "2"}, {"c", ""}}},
      {"/a?b=x+y%2B&&c=d=e", {"a"}, {{"b", "x y+"}, {"c", "d=e"}}},
      {"/a?b=%26c%3D1", {"a"}, {{"b", "&c=1"}}},
      {"/a?b=/x?y", {"a"}, {{"b", "/x?y"}}},
      {"http://host:80/a?b=1", {"a"}, {{"b", "1"}}},
      {"HTTP://host", {}, {}},
      {"http://host?b", {}, {{"b", ""}}},
  };
  for (const GoodCase& good : cases) {
    const auto target = parse_target(good.target);
    ASSERT_TRUE(target) << good.target << ": " << target.error().message;
    EXPECT_EQ(target->path, good.path) << good.target;
    EXPECT_EQ(target->query, good.query) << good.target;
  }
}

struct BadCase {
  std::string target;
  std::string message;
};

TEST(Target, MalformedOnesSayWhatWasFound) {
  const std::vector<BadCase> cases = {
      {"", "begins with /"},
      {"*", "begins with /"},
      {"a/b", "begins with /"},
      {"host:443", "begins with /"},
      {"http://", "begins with /"},
      {"ftp://host/", "begins with /"},
      {"/a b", "without spaces"},
      {"/a\tb", "without spaces"},
      {"/a#b", "without spaces"},
      {"/a\x7f", "without spaces"},
      {"/%", "two hexadecimal digits after %, found \"%\""},
      {"/a/%4", "two hexadecimal digits"},
      {"/%4g/b", "two hexadecimal digits"},
      {"/%/41", "two hexadecimal digits"},
      {"/a?b=%zz", "two hexadecimal digits"},
      {"/a?%=1", "two hexadecimal digits"},
      {"/%00", "UTF-8 without NUL"},
      {"/%ff", "UTF-8 without NUL"},
      {"/\xff", "UTF-8 without NUL"},
      {"/%C3/%BC", "UTF-8 without NUL"},
      {"/%ed%a0%80", "UTF-8 without NUL"},
      {"/%c0%af", "UTF-8 without NUL"},
      {"/a?b=%00", "UTF-8 without NUL"},
      {"/a?=1", "a name in the query"},
  };
  for (const BadCase& bad : cases) {
    const auto target = parse_target(bad.target);
    ASSERT_FALSE(target) << bad.target;
    EXPECT_EQ(target.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(target.error().message, HasSubstr(bad.message)) << bad.target;
  }
}

}  // namespace
}  // namespace berth::edges
