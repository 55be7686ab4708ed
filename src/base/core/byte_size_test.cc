#include "base/core/byte_size.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(ByteSize, ReadsUnitsAndPlainBytes) {
  EXPECT_EQ(parse_byte_size("2GiB").value(), std::int64_t{2} << 30);
  EXPECT_EQ(parse_byte_size("1.5MiB").value(), 3 << 19);
  EXPECT_EQ(parse_byte_size("64KiB").value(), 65536);
  EXPECT_EQ(parse_byte_size("100000000").value(), 100'000'000);
  EXPECT_EQ(parse_byte_size("1048576GiB").value(), std::int64_t{1} << 50);
}

TEST(ByteSize, RefusesOtherUnitsAndFractionsOfBytes) {
  for (const char* text : {"", "0", "-1", "2GB", "2 GiB", "GiB", "1.5", "0.0001KiB", "1048577GiB", "1e40", "2gib"}) {
    const auto size = parse_byte_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_NE(size.error().message.find("wanted a size such as 2GiB"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace berth
