#include "models/graph/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace berth::models {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Half, KeepsWhatItCanHold) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = from_half(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_half(to_half(value))));
    } else {
      EXPECT_EQ(to_half(value), bits);
    }
  }
}

TEST(Half, RoundsToTheNearestEven) {
  EXPECT_EQ(to_half(1.0F), 0x3C00);
  EXPECT_EQ(to_half(-2.0F), 0xC000);
  EXPECT_EQ(to_half(1.0F + 0x1.0p-11F), 0x3C00);  // halfway between 1 and the next
  EXPECT_EQ(to_half(1.0F + 0x1.1p-11F), 0x3C01);
  EXPECT_EQ(to_half(1.0F + 0x3.0p-11F), 0x3C02);
  EXPECT_EQ(to_half(0x1.0p-24F), 0x0001);
  EXPECT_EQ(to_half(0x1.0p-25F), 0x0000);  // halfway between 0 and the smallest
  EXPECT_EQ(to_half(0x1.8p-25F), 0x0001);
  EXPECT_EQ(to_half(0x1.ffep-15F), 0x0400);  // the largest subnormal number carries into the smallest normal one
}

TEST(Half, HasALargestNumber) {
  EXPECT_EQ(from_half(to_half(kHalfMax)), kHalfMax);
  EXPECT_EQ(from_half(to_half(65519.0F)), kHalfMax);
  EXPECT_EQ(from_half(to_half(65520.0F)), kInfinity);
  EXPECT_EQ(from_half(to_half(-1e30F)), -kInfinity);
  EXPECT_EQ(from_half(to_half(kInfinity)), kInfinity);
}

TEST(Bfloat, RoundsToTheNearestEven) {
  EXPECT_EQ(to_bfloat(1.0F), 0x3F80);
  EXPECT_EQ(from_bfloat(to_bfloat(1.0F + 0x1.0p-8F)), 1.0F);
  EXPECT_EQ(from_bfloat(to_bfloat(1.0F + 0x3.0p-8F)), 1.0F + 0x1.0p-6F);
  EXPECT_EQ(from_bfloat(to_bfloat(kInfinity)), kInfinity);
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::nanf("")))));
}

}  // namespace
}  // namespace berth::models
