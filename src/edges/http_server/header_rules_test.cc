#include "edges/http_server/detail/header_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::edges::detail {
namespace {

using Headers = std::vector<HttpField>;

TEST(HeaderRules, NamesAndValuesAreCheckedAndTheHostIsThereOnce) {
  const auto fault = [](const Headers& headers, HttpVersion version = HttpVersion::kOneDotOne) {
    return find_header_fault(headers, version).value_or("");
  };
  EXPECT_EQ(fault({{"Host", "a"}, {"x-1_~", "\xC3\xBC \t"}}), "");
  EXPECT_EQ(fault({}, HttpVersion::kOld), "");
  EXPECT_EQ(fault({}), "wanted a Host, found none");
  EXPECT_EQ(fault({{"Host", "a"}, {"HOST", "a"}}), "wanted one Host, found 2");
  EXPECT_EQ(fault({{"Host", "a"}, {"Host", "a"}}, HttpVersion::kOld), "wanted one Host, found 2");
  EXPECT_EQ(fault({{"Host ", "a"}}), "wanted the name of a header, found \"Host \"");
  EXPECT_EQ(fault({{"", "a"}}), "wanted the name of a header, found \"\"");
  EXPECT_EQ(fault({{"a", "b\rc"}}), "wanted a value of a without control characters, found \"b\\x0dc\"");
}

TEST(HeaderRules, TheEndOfTheBodyMustBeCertain) {
  const auto fault = [](const Headers& headers, HttpVersion version = HttpVersion::kOneDotOne) {
    return find_framing_fault(headers, version).value_or("");
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({{"Content-Length", "3"}}), "");
  EXPECT_EQ(fault({{"transfer-encoding", "CHUNKED"}}), "");
  EXPECT_EQ(fault({{"Content-Length", "3"}, {"content-length", "3"}}), "wanted one Content-Length, found 2");
  EXPECT_EQ(fault({{"Content-Length", "3"}, {"Transfer-Encoding", "chunked"}}),
            "wanted Content-Length or Transfer-Encoding, found both");
  EXPECT_EQ(fault({{"Transfer-Encoding", "gzip, chunked"}}),
            "wanted the Transfer-Encoding chunked, found \"gzip, chunked\"");
  EXPECT_EQ(fault({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}),
            "wanted the Transfer-Encoding chunked, found \"chunked\"");
  EXPECT_EQ(fault({{"Transfer-Encoding", "chunked"}}, HttpVersion::kOld), "wanted no Transfer-Encoding in HTTP/1.0");
}

}  // namespace
}  // namespace berth::edges::detail
