#include "kube/access/base64.h"

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

TEST(Base64, DecodesTheExamplesOfTheSpecification) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9v\nYmFy\r\n"), "foobar");
  EXPECT_EQ(decode_base64("AP+A"), std::string("\0\xff\x80", 3));
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text : {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg", "Zg==Zg==", "Zm9*", "Zm-v"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace berth::kube
